import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as rules from './house-rules.ts'
import { importsOf, type SourceFile } from './source-tree.ts'

const file = (path: string, text: string): SourceFile => ({ path, text })
const lines = (count: number): string => 'x\n'.repeat(count)
const clock = (path: string, text: string) =>
  rules.clockRefusals(file(path, text), ['src/main/**', 'src/**/system-clock.ts'])
const sleep = (path: string, text: string) =>
  rules.sleepRefusals(file(path, text), ['test/support/wait-for.ts'])
const unfinished = (text: string) => rules.unfinishedRefusals(file('src/core/x.ts', text))
const MARK = ['TO', 'DO'].join('')

const fine: [why: string, refusals: string | string[] | undefined][] = [
  ['main reads the clock', clock('src/main/start.ts', 'Date.now()')],
  ['so does the system clock', clock('src/worker/system-clock.ts', 'performance.now()')],
  ['a comment may mention it', clock('src/core/x.ts', '// never Date.now()\n/* Math.random */')],
  ['a stored date is no clock', clock('src/core/x.ts', 'new Date(storedAt)')],
  ['waitFor waits', sleep('test/support/wait-for.ts', 'setTimeout(f, 1)')],
  ['benchmarks may pace themselves', sleep('bench/run.ts', 'setTimeout(f, 1)')],
  ['a word that contains the mark', unfinished('mastodon')],
  ['a name that contains a vague one', rules.nameRefusal('src/core/commonwealth.ts')],
  ['350 lines', rules.sizeRefusal(file('src/core/x.ts', lines(350)))],
  ['a test of 500', rules.sizeRefusal(file('src/core/x.test.ts', lines(500)))],
  ['a contract of 500', rules.sizeRefusal(file('src/store/contract/x.ts', lines(500)))],
  [
    'one long file among three',
    rules.medianRefusal([9, 9, 300].map((n) => file('src/x.ts', lines(n)))),
  ],
]
for (const [why, refusals] of fine)
  test(`fine: ${why}`, () => assert.equal(refusals?.length ?? 0, 0))

const refused: [why: string, refusals: string | string[] | undefined, says: string][] = [
  ['a clock in core', clock('src/core/x.ts', 'a\nDate.now()'), '`src/core/x.ts:2` uses Date.now'],
  ['the date of today', clock('src/server/x.ts', 'new Date()'), 'uses new Date()'],
  ['chance in the server', clock('src/server/x.ts', 'Math.random()'), 'uses Math.random'],
  ['a timer by another name', clock('src/x.ts', 'import { setTimeout as s }'), 'uses setTimeout'],
  ['after a comment ends', clock('src/x.ts', '/* a\n */ setInterval(f)'), ':2` uses setInterval'],
  ['a sleep in a test', sleep('src/core/x.test.ts', 'setTimeout(r, 9)'), 'with waitFor'],
  ['a sleep in a contract', sleep('src/store/contract/x.ts', 'setTimeout(r, 9)'), 'with waitFor'],
  ['work left undone', unfinished(`a // ${MARK}: later`), 'or open an issue'],
  ['a folder of leftovers', rules.nameRefusal('src/core/utils/time.ts'), 'is called utils'],
  ['a file of leftovers', rules.nameRefusal('test/helpers.test.ts'), 'is called helpers'],
  ['351 lines', rules.sizeRefusal(file('src/core/x.ts', lines(351))), '351 lines (at most 350)'],
  ['a test of 501', rules.sizeRefusal(file('test/x.test.ts', lines(501))), 'at most 500'],
  [
    'mostly long files',
    rules.medianRefusal([9, 151, 151].map((n) => file('src/x.ts', lines(n)))),
    '151',
  ],
]
for (const [why, refusals, says] of refused) {
  test(`refused: ${why}`, () => {
    const sentence = [refusals].flat().join('\n')
    assert.ok(sentence.includes(says), sentence || 'was allowed')
  })
}

test('imports are found however they are written', () => {
  const text = `import { a } from './a.ts'
    import './b.ts'
    export {
      c,
    } from "./c.ts"
    // import './not.ts'
    const d = await import('./d.ts')
    const url = 'https://example.test/from'`
  assert.deepEqual(importsOf(text), ['./a.ts', './b.ts', './c.ts', './d.ts'])
})
