// House rules, run as tests over the whole tree. The rules and their own tests are in test/tidy/.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { arrowRefusal } from './tidy/import-direction.ts'
import * as rules from './tidy/house-rules.ts'
import { importsOf, readSources } from './tidy/source-tree.ts'

/** Where real time and real chance enter the program. */
const MAY_READ_CLOCKS = [
  'src/main/**',
  'src/**/system-clock.ts',
  // A process of its own, whose promise is about real time and real processes.
  'src/worker/launcher/**',
]

/** Where tests implement waiting, with deadlines, on behalf of all the others. */
const MAY_SLEEP = ['test/support/wait-for.ts', 'test/tidy/**']

/** Over the limit only by imports that longer paths have wrapped; to be split. */
const MAY_BE_LONG = ['src/store/postgres/ticks/tick.ts']

const files = readSources(resolve(import.meta.dirname, '..'))

function assertNone(refusals: (string | undefined)[]): void {
  const sentences = refusals.filter((refusal) => refusal !== undefined)
  if (sentences.length > 0) assert.fail(`\n${sentences.join('\n')}\n`)
}

test('imports point inward', () => {
  assertNone(
    files.flatMap(({ path, text }) => importsOf(text).map((name) => arrowRefusal(path, name))),
  )
})

test('time and chance are handed in', () => {
  assertNone(files.flatMap((file) => rules.clockRefusals(file, MAY_READ_CLOCKS)))
})

test('tests wait for conditions', () => {
  assertNone(files.flatMap((file) => rules.sleepRefusals(file, MAY_SLEEP)))
})

test('nothing is left for later', () => {
  assertNone(files.flatMap((file) => rules.unfinishedRefusals(file)))
})

test('names say what is inside', () => {
  assertNone(files.map(({ path }) => rules.nameRefusal(path)))
})

test('files stay small', () => {
  const limited = files.filter(({ path }) => !MAY_BE_LONG.includes(path))
  assertNone([...limited.map((file) => rules.sizeRefusal(file)), rules.medianRefusal(files)])
})
