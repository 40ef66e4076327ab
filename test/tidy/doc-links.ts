import { posix } from 'node:path'

export interface Page {
  /** From the root of the repository: `docs/README.md`. */
  readonly path: string
  readonly text: string
}

const LINK = /\]\(([^)\s]+)\)/g
const ABSOLUTE = /^(?:[a-z]+:|\/)/

/** Links of Markdown pages to files, or headings, that do not exist. */
export function brokenLinks(pages: readonly Page[], exists: (path: string) => boolean): string[] {
  const anchors = new Map(pages.map(({ path, text }) => [path, headingsOf(text)]))
  return pages.flatMap(({ path, text }) =>
    [...withoutCode(text).matchAll(LINK)].flatMap(([, link = '']) => {
      if (ABSOLUTE.test(link)) return []
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : posix.join(posix.dirname(path), file)
      if (!exists(target)) return [`${path} links to ${link}, which does not exist`]
      const headings = anchors.get(target)
      const isMissing = anchor !== undefined && headings !== undefined && !headings.has(anchor)
      return isMissing ? [`${path} links to ${link}, and that page has no such heading`] : []
    }),
  )
}

/** Anchors as Git hosting services make them of headings. */
function headingsOf(text: string): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, title = ''] of withoutCode(text, { spans: false }).matchAll(/^#{1,6} +(.*)$/gm)) {
    const base = title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    const count = seen.get(base) ?? 0
    seen.set(base, count + 1)
    anchors.add(count === 0 ? base : `${base}-${count}`)
  }
  return anchors
}

function withoutCode(text: string, { spans = true } = {}): string {
  const plain = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
  return spans ? plain.replaceAll(/`[^`\n]*`/g, '') : plain
}
