import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brokenLinks } from './doc-links.ts'
import { namesExportedTwice } from './exported-names.ts'
import { folderCycles } from './folder-cycles.ts'
import { wrongEntries } from './glossary.ts'
import { missingPaths, unmatchedTestParts } from './mentioned-paths.ts'

const file = (path: string, ...imports: string[]) => ({
  path,
  text: imports.map((name) => `import '${name}'\n`).join(''),
})

test('folders that import each other through a third one are refused', () => {
  const inward = [file('src/a/x.ts', '../b/y.ts'), file('src/b/y.ts', '../c/z.ts', './w.ts')]
  assert.deepEqual(folderCycles([...inward, file('src/c/z.ts')]), [])
  const [refusal = '', ...more] = folderCycles([...inward, file('src/c/z.ts', '../a/q.ts')])
  assert.match(
    refusal,
    /src\/a\/x\.ts imports src\/b\/y\.ts; .*src\/c\/z\.ts imports src\/a\/q\.ts/,
  )
  assert.deepEqual(more, [])
  const tests = [file('src/a/x.ts', '../b/y.ts'), file('src/b/y.test.ts', '../a/x.ts')]
  assert.deepEqual(folderCycles(tests), [])
})

test('a name that two files export is refused, unless the files are twins', () => {
  const exporting = (path: string) => ({ path, text: 'export function find() {}\n' })
  const twins = ['src/store/sqlite/runs/find.ts', 'src/store/postgres/runs/find.ts'].map(exporting)
  assert.deepEqual(namesExportedTwice(twins, []), [])
  const two = ['src/cli/find.ts', 'src/server/find.ts'].map(exporting)
  assert.deepEqual(namesExportedTwice(two, ['find']), [])
  assert.match(namesExportedTwice(two, []).join(), /`find` is exported by src\/cli\/find\.ts and/)
  const folders = ['src/store/sqlite/ticks/find.ts', 'src/store/postgres/runs/find.ts'].map(
    exporting,
  )
  assert.match(namesExportedTwice(folders, []).join(), /<adapter>\/ticks\/find\.ts and .*\/runs\//)
})

test('every form of an export is compared', () => {
  const refusals = (text: string) => {
    const first = { path: 'src/a/x.ts', text: 'export const find = 1\n' }
    return namesExportedTwice([first, { path: 'src/b/y.ts', text }], []).length
  }
  for (const text of [
    'export function* find() {}',
    'export async function* find() {}',
    'export abstract class find {}',
    'export enum find {}',
    'export let find = 1',
    'export default function find() {}',
    'const find = 1\nexport { other, find }',
    'const inner = 1\nexport {\n  inner as find,\n}',
    'export type { find }',
  ]) {
    assert.equal(refusals(`${text}\n`), 1, text)
  }
  for (const text of [
    "export { find } from '../a/x.ts'",
    "import { find } from '../a/x.ts'\nexport { find }",
    "import {\n  type inner as find,\n} from '../a/x.ts'\nexport type { find }",
    'const find = 1\nexport { find as other }',
    '// export const find',
  ]) {
    assert.equal(refusals(`${text}\n`), 0, text)
  }
})

test('links to pages and headings that do not exist are refused', () => {
  const page = (text: string) => ({ path: 'docs/a.md', text })
  const other = { path: 'docs/b/c.md', text: '# Two words, `code`\n\n## Same\n\n## Same\n' }
  const check = (text: string) =>
    brokenLinks([page(text), other], (path) => ['docs/a.md', 'docs/b/c.md'].includes(path))
  const fine = '[x](b/c.md) [y](b/c.md#two-words-code) [z](b/c.md#same-1) [w](https://example.org/)'
  assert.deepEqual(check(`${fine} \`[no](link)\`\n\n\`\`\`\n[no](link)\n\`\`\`\n`), [])
  assert.deepEqual(check('[x](c.md)'), ['docs/a.md links to c.md, which does not exist'])
  assert.match(check('[x](b/c.md#three)').join(), /no such heading/)
  assert.match(check('[x](#nowhere)').join(), /no such heading/)
})

test('entries of the glossary with a type or a file that does not exist are refused', () => {
  const row = (type: string, where: string) => `| **run** | One execution | ${type} | ${where} |\n`
  const files = [{ path: 'src/run.ts', text: 'export interface Run {}' }]
  assert.deepEqual(wrongEntries(row('`Run`', '`src/run.ts`') + row('', ''), files), [])
  assert.match(
    wrongEntries(row('`Runs`', '`src/run.ts`'), files).join(),
    /names Runs, which is not exported/,
  )
  const mentioned = [{ path: 'src/run.ts', text: '// about a Run\ntype Run = string' }]
  assert.match(wrongEntries(row('`Run`', '`src/run.ts`'), mentioned).join(), /is not exported/)
  assert.match(wrongEntries('| **run** | One execution |\n', files).join(), /1 rows are not/)
  assert.match(wrongEntries(row('`Run`', '`src/x.ts`'), files).join(), /src\/x\.ts, which does not/)
})

test('paths in pages that do not exist are refused', () => {
  const page = (text: string) => ({ path: 'docs/a.md', text })
  const exists = (pattern: string) => ['src/a.ts', 'src/store/*/x.ts', 'src/core'].includes(pattern)
  const fine = '`src/a.ts` `src/core/` `src/store/*/x.ts` `other/b.ts`\n\n```\n`src/no.ts`\n```\n'
  assert.deepEqual(missingPaths([page(fine)], exists), [])
  const refusals = ['docs/a.md names src/b.ts, which does not exist']
  assert.deepEqual(missingPaths([page('see `src/b.ts`')], exists), refusals)
})

test('acceptance checks that name tests which are not there are refused', () => {
  const check = (text: string) => [{ path: 'test/accept/a.ts', text }]
  const tests = ['test/api/jobs.test.ts', 'src/core/run/retry.test.ts']
  const fine = "passTests(['test/api/', 'core/run/', 'test/api/jobs'])"
  assert.deepEqual(unmatchedTestParts(check(fine), tests), [])
  const refusals = ['test/accept/a.ts names the tests test/ap/, and there are none']
  assert.deepEqual(unmatchedTestParts(check("passTests(['test/ap/'])"), tests), refusals)
})
