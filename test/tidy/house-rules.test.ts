import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as rules from './house-rules.ts'
import { importsOf, type SourceFile } from './source-tree.ts'

const file = (path: string, text: string): SourceFile => ({ path, text })
const clock = (path: string, text: string) =>
  rules.clockViolations(file(path, text), ['src/main/**', 'src/**/system-clock.ts'])
const sleep = (path: string, text: string) =>
  rules.sleepViolations(file(path, text), ['test/support/wait-for.ts'])
const unfinished = (text: string) => rules.unfinishedViolations(file('src/core/x.ts', text))
const MARK = ['TO', 'DO'].join('')

const fine: [why: string, refusals: string | string[] | undefined][] = [
  ['main reads the clock', clock('src/main/start.ts', 'Date.now()')],
  ['so does the system clock', clock('src/worker/system-clock.ts', 'performance.now()')],
  ['a comment may mention it', clock('src/core/x.ts', '// never Date.now()\n/* Math.random */')],
  ['a stored date is no clock', clock('src/core/x.ts', 'new Date(storedAt)')],
  ['waitFor waits', sleep('test/support/wait-for.ts', 'setTimeout(f, 1)')],
  ['benchmarks may pace themselves', sleep('bench/run.ts', 'setTimeout(f, 1)')],
  ['a word that contains the mark', unfinished('mastodon')],
  ['a name that contains a vague one', rules.nameViolation('src/core/commonwealth.ts')],
]
for (const [why, refusals] of fine)
  test(`allowed: ${why}`, () => assert.equal(refusals?.length ?? 0, 0))

const refused: [why: string, refusals: string | string[] | undefined, says: string][] = [
  ['a clock in core', clock('src/core/x.ts', 'a\nDate.now()'), '`src/core/x.ts:2` uses Date.now'],
  ['the date of today', clock('src/server/x.ts', 'new Date()'), 'uses new Date()'],
  ['chance in the server', clock('src/server/x.ts', 'Math.random()'), 'uses Math.random'],
  ['a timer by another name', clock('src/x.ts', 'import { setTimeout as s }'), 'uses setTimeout'],
  ['after a comment ends', clock('src/x.ts', '/* a\n */ setInterval(f)'), ':2` uses setInterval'],
  ['a sleep in a test', sleep('src/core/x.test.ts', 'setTimeout(r, 9)'), 'with waitFor'],
  ['a sleep in a contract', sleep('src/store/contract/x.ts', 'setTimeout(r, 9)'), 'with waitFor'],
  ['work left undone', unfinished(`a // ${MARK}: later`), 'or open an issue'],
  ['a folder of leftovers', rules.nameViolation('src/core/utils/time.ts'), 'is called utils'],
  ['a file of leftovers', rules.nameViolation('test/helpers.test.ts'), 'is called helpers'],
]
for (const [why, refusals, says] of refused) {
  test(`refused: ${why}`, () => {
    const sentence = [refusals].flat().join('\n')
    assert.ok(sentence.includes(says), sentence || 'was allowed')
  })
}

test('imports are found in every notation', () => {
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
