// The runner behind `npm test`. Words after `--` select files by part of their path.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, matchesGlob, resolve } from 'node:path'
import { run } from 'node:test'
import Database from 'better-sqlite3'
import type { PostgresFlavour } from './support/postgres-binaries.ts'
import { startPostgres, type PostgresServer } from './support/postgres-server.ts'
import { scaledMs } from './support/slowdown-factor.ts'
import { createSemaphore } from './support/semaphore.ts'
import { addEvent, newResult, type FileResult, type TestEvent } from './support/test-events.ts'
import { closingReport, fileLine, isSuccess } from './support/test-report.ts'

/** Many files wait for processes and disks more than they compute: one more than the usual number of cores. */
const CONCURRENCY = 3
/** These start many processes themselves and count as two. */
const CROWDED = /^test\/chaos\//
/** The longest files start first, so that short ones keep every core busy until the end. */
const LONG_FILES = [
  'test/chaos/**',
  'test/sim/**',
  'test/webhooks/**',
  'src/store/*/store.test.ts',
  'test/{store-agreement,compat/conformance,api/openapi-check,secrets/rotation,cli/terminal}.test.ts',
]
/** On an idle machine; a file that starts while the machine is busy gets longer. */
const FILE_TIMEOUT_MS = 15 * 60_000
const PATTERNS = ['src/**/*.test.ts', 'test/**/*.test.ts']
const EXCLUDED = ['test/fixtures/**']

const root = resolve(import.meta.dirname, '..')
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort(new Error(`interrupted by ${signal}`)))
}

process.chdir(root)
process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1

async function main(filters: string[]): Promise<boolean> {
  const all = globSync(PATTERNS, { cwd: root, exclude: EXCLUDED }).toSorted()
  const unmatched = filters.filter((filter) => !all.some((file) => file.includes(filter)))
  const files = all.filter(
    (file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
  )
  // A list that names a renamed file must not succeed with what is left of it.
  if (unmatched.length > 0 || files.length === 0) {
    console.error(`no test file matches ${unmatched.join(' ') || PATTERNS.join(' ')}`)
    console.log('0 passed, 0 failed')
    return false
  }
  const notes = mkdtempSync(join(tmpdir(), 'punctual-test-'))
  let postgres: PostgresServer | undefined
  try {
    process.env.PUNCTUAL_TEST_SERVERS_FILE = join(notes, 'servers')
    // Hundreds of processes load the same sources: they share one compile cache.
    process.env.NODE_COMPILE_CACHE ??= join(notes, 'compiled')
    const flavour = process.env.PUNCTUAL_TEST_POSTGRES ?? 'embedded'
    postgres = await startPostgres({ version: flavour as PostgresFlavour })
    process.env.PUNCTUAL_TEST_POSTGRES_URL = postgres.url
    const results = await runAll(files)
    const known = {
      PostgreSQL: `PostgreSQL ${postgres.version} (private, ${flavour})`,
      SQLite: `SQLite ${sqliteVersion()}`,
    }
    console.log(closingReport(results, exercised(files, join(notes, 'servers'), known)))
    return isSuccess(results) && !interrupted.signal.aborted
  } finally {
    await postgres?.stop('immediate')
    rmSync(notes, { recursive: true, force: true })
  }
}

async function runAll(files: string[]): Promise<FileResult[]> {
  const waiting = longestFirst(files)
  const results: FileResult[] = []
  const slots = createSemaphore(CONCURRENCY)
  const lane = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const release = await slots.acquire(CROWDED.test(file) ? 2 : 1)
      if (interrupted.signal.aborted) return
      const result = await runFile(file)
      release()
      results.push(result)
      console.log(fileLine(result, { done: results.length, of: files.length }))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
  return results.toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file))
}

function longestFirst(files: string[]): string[] {
  const rank = (file: string) => {
    const index = LONG_FILES.findIndex((pattern) => matchesGlob(file, pattern))
    return index === -1 ? LONG_FILES.length : index
  }
  return files.toSorted((a, b) => rank(a) - rank(b))
}

/**
 * Each file is a run of its own: within one run, node:test delays the events of later files and waits forever
 * for a file that leaves a timer or a socket open.
 */
async function runFile(file: string): Promise<FileResult> {
  const result = newResult(file)
  const startedAt = performance.now()
  const signal = AbortSignal.any([
    interrupted.signal,
    AbortSignal.timeout(scaledMs(FILE_TIMEOUT_MS)),
  ])
  const events: AsyncIterable<TestEvent> = run({ files: [join(root, file)], signal })
  for await (const event of events) addEvent(result, event)
  result.durationMs = performance.now() - startedAt
  return result
}

/** Names recorded by `support/servers.ts`; SQLite is a library, so running its adapter's files counts. */
function exercised(files: string[], notesPath: string, known: Record<string, string>): string[] {
  let notes = ''
  try {
    notes = readFileSync(notesPath, 'utf8')
  } catch {
    // No test asked for a server.
  }
  const names = new Set(notes.split('\n').filter(Boolean))
  if (files.some((file) => file.includes('sqlite'))) names.add('SQLite')
  return [...names].map((name) => known[name] ?? name).toSorted()
}

function sqliteVersion(): string {
  const db = new Database(':memory:')
  try {
    return String(db.prepare('SELECT sqlite_version()').pluck().get())
  } finally {
    db.close()
  }
}
