import type { SourceFile } from './source-tree.ts'

/** `| **term** | meaning | `Type` | `file` |`: the last two cells may have several, or none. */
const ENTRY = /^\| \*\*([^*]+)\*\*.*\| ([^|]*) \| ([^|]*) \|$/gm
const ROW = /^\| \*\*.*$/gm
const EXPORTS =
  'export +(?:abstract +)?(?:async +)?(?:type|interface|class|function\\*?|const|enum) +'

/** Types and files of the glossary that do not exist, or do not belong together. */
export function wrongEntries(glossary: string, files: readonly SourceFile[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const entries = [...glossary.matchAll(ENTRY)]
  const rows = [...glossary.matchAll(ROW)]
  if (rows.length !== entries.length) {
    return [
      `glossary: ${rows.length - entries.length} rows are not of the form | **term** | meaning | types | files |`,
    ]
  }
  return entries.flatMap(([, term = '', type = '', where = '']) => {
    const paths = codeIn(where)
    const missing = paths.filter((path) => !texts.has(path))
    if (missing.length > 0) {
      return missing.map((path) => `glossary: ${term} names ${path}, which does not exist`)
    }
    const all = paths.map((path) => texts.get(path)).join('\n')
    return codeIn(type)
      .filter((name) => paths.length > 0 && !new RegExp(`${EXPORTS}${name}\\b`).test(all))
      .map(
        (name) => `glossary: ${term} names ${name}, which is not exported by ${paths.join(' or ')}`,
      )
  })
}

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}
