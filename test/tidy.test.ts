// House rules, run as tests over the whole tree. The rules and their own tests are in test/tidy/.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { importViolation } from './tidy/import-direction.ts'
import { brokenLinks } from './tidy/doc-links.ts'
import { namesExportedTwice } from './tidy/exported-names.ts'
import { folderCycles } from './tidy/folder-cycles.ts'
import { wrongEntries } from './tidy/glossary.ts'
import * as rules from './tidy/house-rules.ts'
import { missingPaths, unmatchedTestParts } from './tidy/mentioned-paths.ts'
import { importsOf, readSources } from './tidy/source-tree.ts'

/** Where real time and real randomness enter the program. */
const MAY_READ_CLOCKS = [
  'src/main/**',
  'src/**/system-clock.ts',
  // A process of its own, whose guarantees are about real time and real processes.
  'src/worker/launcher/**',
]

/** Where the shared helpers of tests implement waiting, with deadlines. */
const MAY_SLEEP = ['test/support/wait-for.ts', 'test/tidy/**']

/** The clocks of the client and of the worker: neither may import the other. */
const SAME_MEANING = ['systemClock', 'systemRandom']

const root = resolve(import.meta.dirname, '..')
const files = readSources(root)

function assertNone(refusals: (string | undefined)[]): void {
  const sentences = refusals.filter((refusal) => refusal !== undefined)
  if (sentences.length > 0) assert.fail(`\n${sentences.join('\n')}\n`)
}

test('imports point inward', () => {
  assertNone(
    files.flatMap(({ path, text }) => importsOf(text).map((name) => importViolation(path, name))),
  )
})

test('clock and randomness are passed in', () => {
  assertNone(files.flatMap((file) => rules.clockViolations(file, MAY_READ_CLOCKS)))
})

test('tests wait for conditions', () => {
  assertNone(files.flatMap((file) => rules.sleepViolations(file, MAY_SLEEP)))
})

test('no unfinished code is left', () => {
  assertNone(files.flatMap((file) => rules.unfinishedViolations(file)))
})

test('file names describe their content', () => {
  assertNone(files.map(({ path }) => rules.nameViolation(path)))
})

test('folders do not import each other in a cycle', () => {
  assertNone(folderCycles(files))
})

test('an exported name has one meaning', () => {
  assertNone(namesExportedTwice(files, SAME_MEANING))
})

const pages = globSync('{*.md,docs/**/*.md,bench/*.md}', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}))

test('links in the documentation lead somewhere', () => {
  assert.ok(pages.length > 50)
  assertNone(brokenLinks(pages, (path) => existsSync(join(root, path))))
})

test('paths named in the documentation exist', () => {
  const today = pages.filter(({ path }) => path !== 'CHANGELOG.md')
  assertNone(missingPaths(today, (pattern) => globSync(pattern, { cwd: root }).length > 0))
})

test('acceptance checks name tests that exist', () => {
  const tests = files.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'))
  const checks = files.filter(({ path }) => path.startsWith('test/accept/'))
  assertNone(unmatchedTestParts(checks, tests))
})

test('the types and files of the glossary exist', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  assert.ok(glossary.includes('| **run** |'))
  assertNone(wrongEntries(glossary, files))
})
