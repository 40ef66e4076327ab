import type { Page } from './doc-links.ts'
import type { SourceFile } from './source-tree.ts'

const PATH = /`((?:src|test|docs|bench|native|tools|examples|bin)\/[\w./*-]+)`/g
const FENCED = /^ *```[\s\S]*?^ *```/gm
/** Inside the arguments of `passTests`, and the lists that it is given. */
const TEST_PART = /'((?:src|test|core|server|compat|masking)\/[\w./-]*)'/g

/** Files that Markdown pages name in code spans and that do not exist; `*` stands for part of a name. */
export function missingPaths(
  pages: readonly Page[],
  exists: (pattern: string) => boolean,
): string[] {
  return pages.flatMap(({ path, text }) =>
    [...text.replaceAll(FENCED, '').matchAll(PATH)]
      .map(([, named = '']) => named.replace(/\/$/, ''))
      .filter((named) => !exists(named))
      .map((named) => `${path} names ${named}, which does not exist`),
  )
}

/** Parts of paths that acceptance checks pass to `npm test` and that select no test. */
export function unmatchedTestParts(checks: readonly SourceFile[], tests: readonly string[]) {
  return checks.flatMap(({ path, text }) =>
    [...text.matchAll(TEST_PART)]
      .map(([, part = '']) => part)
      .filter((part) => !part.endsWith('.ts'))
      .filter((part) => !tests.some((test) => test.includes(part)))
      .map((part) => `${path} names the tests ${part}, and there are none`),
  )
}
