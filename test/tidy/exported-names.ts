import { isTestCode, type SourceFile } from './source-tree.ts'

const DECLARATION =
  /^export (?:declare )?(?:async )?(?:function|const|type|interface|class) (\w+)/gm

/** Names that several files of `src` export. Twins in the two store adapters have one meaning. */
export function namesExportedTwice(
  files: readonly SourceFile[],
  allowed: readonly string[],
): string[] {
  const places = new Map<string, Set<string>>()
  for (const { path, text } of files) {
    if (!path.startsWith('src/') || isTestCode(path)) continue
    const place = path.replace(/^src\/store\/(sqlite|postgres)\/.*/, 'src/store/<adapter>')
    for (const [, name = ''] of text.matchAll(DECLARATION)) {
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
