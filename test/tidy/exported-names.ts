import { isTestCode, type SourceFile } from './source-tree.ts'

const DECLARATION =
  /^export (?:default )?(?:declare )?(?:async )?(?:abstract )?(?:const )?(?:function\*?|const|let|type|interface|class|enum) *(\w+)/gm
const EXPORT_LIST = /^export (?:type )?\{([^}]*)\}(?! from)/gm
const IMPORT_LIST = /^import (?:type )?\{([^}]*)\}/gm

/**
 * Names that several files of `src` export. Twins in the two store adapters, which have the same path
 * inside their adapter, have one meaning.
 */
export function namesExportedTwice(
  files: readonly SourceFile[],
  allowed: readonly string[],
): string[] {
  const places = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    if (!path.startsWith('src/') || isTestCode(path)) continue
    const place = path.replace(/^src\/store\/(sqlite|postgres)\//, 'src/store/<adapter>/')
    for (const name of exportedNames(text)) {
      places.set(name, (places.get(name) ?? new Set()).add(place))
    }
  }
  return [...places]
    .filter(([name, { size }]) => size > 1 && !allowed.includes(name))
    .map(
      ([name, where]) =>
        `\`${name}\` is exported by ${[...where].join(' and ')}; give each meaning its own name`,
    )
}

/** Names that the file declares and exports. A name that is imported and passed on keeps its meaning. */
function exportedNames(text: string): string[] {
  const declared = Array.from(text.matchAll(DECLARATION), ([, name = '']) => name)
  const imported = new Set(namesIn(text, IMPORT_LIST).map(([, local]) => local))
  const listed = namesIn(text, EXPORT_LIST)
    .filter(([local, exported]) => !imported.has(local) && exported !== 'default')
    .map(([, exported]) => exported)
  return [...declared, ...listed]
}

/** The names in `{ … }` lists, as before and after `as`; the word `type` may come first. */
function namesIn(text: string, list: RegExp): [before: string, after: string][] {
  return Array.from(text.matchAll(list), ([, names = '']) => names.split(','))
    .flat()
    .map((entry) => entry.trim().replace(/^type /, ''))
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [before = '', after = before] = entry.split(/\s+as\s+/)
      return [before, after]
    })
}
