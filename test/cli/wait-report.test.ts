import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerEvent } from '../../src/cli/server/event-stream.ts'
import type { ServerCalls } from '../../src/cli/server/server-calls.ts'
import { runProgram } from '../../src/cli/program.ts'
import { createWaitReport } from '../../src/cli/watch/wait-report.ts'
import { waitForRun } from '../../src/cli/watch/wait-run.ts'
import { watchRun } from '../../src/cli/watch/watch-run.ts'
import { watchSteps } from '../../src/cli/watch/watch-steps.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

interface Moment {
  readonly state: string
  readonly attempt?: number
  readonly why: string
  readonly takesMs: number
}

const WAITING: Moment = { state: 'ready', why: 'It has waited for a worker.', takesMs: 10_000 }
const RUNNING: Moment = { state: 'running', attempt: 1, why: 'It is on w1.', takesMs: 10_000 }
const RETRYING: Moment = { state: 'scheduled', attempt: 2, why: 'It tries again.', takesMs: 10_000 }

/** A server whose run has one of these states at each request, and a clock that advances with it. */
function environment(
  moments: readonly Moment[],
  options: { isInteractive?: boolean; term?: string } = {},
) {
  const { isInteractive = false, term = 'xterm' } = options
  const terminal = createFakeTerminal({ env: { TERM: term }, isInteractive, columns: 80 })
  let mono = 0
  let looks = 0
  let over = () => {}
  const ended = new Promise<void>((resolve) => {
    over = resolve
  })
  const calls = {
    async call(_method: string, path: string) {
      const now = moments[looks - 1] ?? moments[0]
      if (path.endsWith('/why')) return { state: now?.state, sentence: now?.why, code: 'worker' }
      if (path.includes('/steps')) return { data: [], next_cursor: null }
      const next = moments[looks]
      if (!next) {
        over()
        return { state: 'succeeded', attempt: 1, cancelling: false, finished_at: 'now' }
      }
      looks += 1
      mono += next.takesMs
      return { state: next.state, attempt: next.attempt ?? 0, cancelling: false, finished_at: null }
    },
    async *events(): AsyncGenerator<ServerEvent> {
      await ended
      const data = { state: 'succeeded', exit_code: 0, signal: null }
      yield { event: 'end', id: undefined, data }
    },
  } as unknown as ServerCalls
  const sleep = async () => {}
  return { calls, terminal: { ...terminal, mono: () => mono, sleep }, written: terminal.written }
}

const CHANGES = [WAITING, WAITING, RUNNING, RETRYING, { ...RUNNING, attempt: 2 }]
const LINES = `◷ ready  run_1  It has waited for a worker.
▶ running  run_1  It is on w1.
◷ scheduled  run_1  It tries again.
▶ running  run_1  It is on w1.
`

test('without a terminal, exec and run --wait report every change of state', async () => {
  const { calls, terminal, written } = environment(CHANGES)
  await watchRun('run_1', { calls, terminal })
  assert.deepEqual(written, { out: '', err: LINES })
})

test('without a terminal, wait reports every change of state', async () => {
  const { calls, terminal, written } = environment(CHANGES)
  await waitForRun('run_1', { calls, terminal, timeout: undefined })
  assert.deepEqual(written, { out: '', err: LINES })
})

test('every 30 seconds without a change, a line gives the reason from why', async () => {
  const moments = Array.from({ length: 9 }, () => WAITING)
  const line = '◷ ready  run_1  It has waited for a worker.\n'
  const watched = environment(moments)
  await watchRun('run_1', watched)
  assert.equal(watched.written.err, line.repeat(3))
  const waited = environment(moments)
  await waitForRun('run_1', { ...waited, timeout: undefined })
  assert.equal(waited.written.err, line.repeat(3))
  const ofSteps = environment(moments)
  await watchSteps('run_1', ofSteps)
  assert.equal(ofSteps.written.err, `It has waited for a worker.\n${line.repeat(2)}`)
})

test('output counts as a change: the reminder is due 30 seconds after it', async () => {
  const { calls, terminal, written } = environment([])
  const signal = new AbortController().signal
  const run = { state: 'running', attempt: 1, cancelling: false, finished_at: null } as const
  let mono = 0
  const report = createWaitReport('run_1', {
    calls: { ...calls, call: async () => ({ state: 'running', sentence: 'It runs.' }) as never },
    terminal: { ...terminal, mono: () => mono },
    signal,
  })
  await report.update(run)
  mono = 25_000
  report.noteOutput()
  mono = 40_000
  await report.update(run)
  assert.equal(written.err, '▶ running  run_1  It runs.\n')
  mono = 55_000
  await report.update(run)
  assert.equal(written.err, '▶ running  run_1  It runs.\n'.repeat(2))
})

test('exec says why its command does not start', async (t) => {
  const api = await openApi(t)
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const terminal = createFakeTerminal({ env })
  const argv = ['exec', '--', 'true']
  const code = runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  await waitFor(
    () => {
      terminal.passTime()
      return /^◷ ready  run_\w{11}  It has waited .*no worker is connected/.test(
        terminal.written.err,
      )
    },
    { what: 'a line about the worker that is missing' },
  )
  assert.equal(terminal.written.out, '')
  await api.startWorker()
  assert.equal(await code, 0)
})

test('a run that ends before the first request needs no line', async () => {
  const { calls, terminal, written } = environment([])
  await watchRun('run_1', { calls, terminal })
  await waitForRun('run_1', { calls, terminal, timeout: undefined })
  assert.equal(written.err, '')
})

test('a live line replaces the other lines; a dumb terminal gets them', async () => {
  const live = environment(CHANGES, { isInteractive: true })
  await waitForRun('run_1', { calls: live.calls, terminal: live.terminal, timeout: undefined })
  assert.doesNotMatch(live.written.err, /\n/)
  const dumb = environment(CHANGES, { isInteractive: true, term: 'dumb' })
  await waitForRun('run_1', { calls: dumb.calls, terminal: dumb.terminal, timeout: undefined })
  assert.equal(dumb.written.err, LINES)
})
