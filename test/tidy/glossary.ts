import type { SourceFile } from './source-tree.ts'

/** `| **term** | meaning | `Type` | `file` |`: the last two cells may have several, or none. */
const ENTRY = /^\| \*\*([^*]+)\*\*.*\| ([^|]*) \| ([^|]*) \|$/gm

/** Types and files of the glossary that do not exist, or do not belong together. */
export function wrongEntries(glossary: string, files: readonly SourceFile[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  return [...glossary.matchAll(ENTRY)].flatMap(([, term = '', type = '', where = '']) => {
    const paths = codeIn(where)
    const missing = paths.filter((path) => !texts.has(path))
    if (missing.length > 0) {
      return missing.map((path) => `glossary: ${term} names ${path}, which does not exist`)
    }
    const all = paths.map((path) => texts.get(path)).join('\n')
    return codeIn(type)
      .filter((name) => paths.length > 0 && !new RegExp(`\\b${name}\\b`).test(all))
      .map((name) => `glossary: ${term} names ${name}, which is not in ${paths.join(' or ')}`)
  })
}

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}
