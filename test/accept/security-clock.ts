import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../support/postgres-server.ts'
import { BIN, privateEnv } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import type { CheckReport } from './check.ts'

/** The library leaves files here when its process is killed. */
const SHARED_MEMORY = '/dev/shm'
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
const HOUR_S = 3_600
const DAY_S = 24 * HOUR_S

/** Real time passes: the check is about clocks over that time. */
async function pause(ms: number): Promise<void> {
  const untilMono = performance.now() + ms
  const isOver = () => performance.now() >= untilMono
  await waitFor(isOver, { what: 'time to pass', deadlineMs: ms + 30_000, intervalMs: 100 })
}

interface Server {
  readonly url: string
  /** All output so far. */
  said(): string
  call<T>(method: string, path: string, body?: object, headers?: object): Promise<T>
  /** What it reports about its clock; empty if nothing. */
  clock(): Promise<string>
  /** The output of `punctual doctor`. */
  doctor(): Promise<string>
}

/** Processes whose wall clock is read from a file; their monotonic clock is the real one. */
function openEnvironment() {
  assert.ok(existsSync(LIBRARY), 'this check needs the Debian package faketime')
  const dir = mkdtempSync(join(tmpdir(), 'punctual-clock-'))
  // The database runs as another user.
  chmodSync(dir, 0o755)
  const clockFile = join(dir, 'clock')
  const set = (seconds: number) => writeFileSync(clockFile, `+${seconds}\n`)
  set(0)
  const faked = {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
  const children: ChildProcess[] = []

  const start = async (name: string, args: readonly string[], env: NodeJS.ProcessEnv) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      env: { ...privateEnv(join(dir, name)), ...env },
    })
    children.push(child)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => void (said += String(part)))
    }
    const url = await waitFor(() => /address +(\S+)/.exec(said)?.[1], { what: name })
    return toServer(url, () => said, privateEnv(join(dir, name)))
  }
  const end = async () => {
    for (const child of children) {
      child.kill('SIGKILL')
      if (child.exitCode === null) await new Promise((resolve) => void child.once('exit', resolve))
    }
    for (const name of readdirSync(SHARED_MEMORY)) {
      const [, owner] = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name) ?? []
      if (children.some(({ pid }) => String(pid) === owner)) rmSync(join(SHARED_MEMORY, name))
    }
    rmSync(dir, { recursive: true, force: true })
  }
  return { dir, set, faked, start, end }
}

function toServer(url: string, said: () => string, env: NodeJS.ProcessEnv): Server {
  return {
    url,
    said,
    async call(method, path, body, more = {}) {
      const headers = { ...(body && { 'content-type': 'application/json' }), ...more }
      const given = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(`${url}${path}`, { method, headers, ...given })
      const text = await answer.text()
      assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
      return JSON.parse(text)
    },
    async clock() {
      const answer = await fetch(`${url}/readyz`)
      assert.equal(answer.status, 200, 'it stays ready')
      const { clock } = (await answer.json()) as { clock?: { reason: string } }
      return clock?.reason ?? ''
    },
    doctor: () =>
      new Promise((resolve) => {
        const args = [BIN, 'doctor', '--server', url]
        execFile(process.execPath, args, { env }, (_error, out) => resolve(out))
      }),
  }
}

interface Occurrence {
  readonly nominal_at: string
  readonly outcome: string
}

/** Due times of a range, in whole seconds of the store's clock. */
async function occurrences(server: Server, fromMs: number, untilMs: number): Promise<Occurrence[]> {
  const [from, until] = [fromMs, untilMs].map((ms) => new Date(ms).toISOString())
  const path = `/v1/jobs/tick/schedules/s/occurrences?limit=100&from=${from}&until=${until}`
  return (await server.call<{ data: Occurrence[] }>('GET', path)).data
}

/** Whether each of the next seconds fires, by a clock that is `offsetS` from that of this process. */
async function firesEachOf(server: Server, count: number, offsetS: number): Promise<boolean> {
  const first = (Math.floor(Date.now() / 1_000) + 1 + offsetS) * 1_000
  const last = first + (count - 1) * 1_000
  await pause(count * 1_000 + 2_000)
  const fired = (await occurrences(server, first, last)).filter(
    ({ outcome }) => outcome === 'fired',
  )
  const times = fired.map((one) => Date.parse(one.nominal_at))
  return times.length === count && times.every((at, nth) => at === first + nth * 1_000)
}

/** The whole sequence of clock changes on running servers. `set` sets the store's clock. */
class Story {
  readonly #servers: readonly Server[]
  readonly #set: (seconds: number) => void
  readonly #report: CheckReport
  readonly #submitted: string[] = []
  #firstAt = 0

  constructor(servers: readonly Server[], set: (seconds: number) => void, report: CheckReport) {
    this.#servers = servers
    this.#set = set
    this.#report = report
  }

  get #server(): Server {
    return this.#servers[0] as Server
  }

  async #submit(key?: string): Promise<string> {
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const body = { job: 'by-hand' }
    return (await this.#server.call<{ id: string }>('POST', '/v1/runs', body, headers)).id
  }

  async begin(): Promise<void> {
    const server = this.#server
    for (const job of ['tick', 'by-hand']) {
      await server.call('PUT', `/v1/jobs/${job}`, { run: 'true' })
    }
    await server.call('PUT', '/v1/jobs/tick/schedules/s', { every: '1s', overlap: 'allow' })
    this.#submitted.push(await this.#submit('k'))
    await waitFor(() => firesEachOf(server, 5, 0), { what: 'firing', deadlineMs: 60_000 })
    const [first] = await occurrences(server, Date.now() - 60_000, Date.now())
    this.#firstAt = Date.parse(first?.nominal_at ?? '')
  }

  /** Sets the clock; every server and `doctor` must report it. */
  async jump(seconds: number, said: string): Promise<void> {
    this.#set(seconds)
    for (const server of this.#servers) {
      const isHeld = async () => (await server.clock()).includes(said)
      await waitFor(isHeld, { what: `the hold of ${server.url}`, deadlineMs: 20_000 })
      const doctor = await server.doctor()
      assert.ok(doctor.includes(`the wall clock ${said} by`), `doctor says: ${doctor}`)
    }
  }

  /** Everything works again, by a clock that is `offsetS` from that of this process. */
  async assertSane(what: string, offsetS: number): Promise<void> {
    const server = this.#server
    const startedMono = performance.now()
    const fires = () => firesEachOf(server, 3, offsetS)
    await waitFor(fires, { what: `firing after ${what}`, deadlineMs: 90_000 }).catch(
      async (error: Error) => {
        const why = await server.call('GET', '/v1/jobs/tick/schedules/s/why')
        const said = this.#servers.map((one) => one.said()).join('\n')
        throw new Error(`${error.message}\n${JSON.stringify(why)}\n${said}`, { cause: error })
      },
    )
    const tookS = ((performance.now() - startedMono) / 1_000).toFixed(0)
    this.#report.figure(`${what}: three seconds in a row have fired after`, `${tookS} s`)
    assert.ok(await firesEachOf(server, 10, offsetS), 'no second is left out after the hold')
    assert.equal(await this.#submit('k'), this.#submitted[0], 'a repeat returns the first run')
    const id = await this.#submit()
    this.#submitted.push(id)
    for (const one of this.#servers) await this.#assertKept(one, id)
    // Its worker and its timers continue too.
    const isDone = async () =>
      (await server.call<{ state: string }>('GET', `/v1/runs/${id}`)).state === 'succeeded'
    await waitFor(isDone, { what: `the run after ${what}`, deadlineMs: 30_000 })
  }

  /** No run is deleted, and the newest run is the first of the list. */
  async #assertKept(server: Server, newest: string): Promise<void> {
    const path = '/v1/runs?job=by-hand&limit=100'
    const { data } = await server.call<{ data: { id: string }[] }>('GET', path)
    const listed = data.map(({ id }) => id)
    assert.equal(listed[0], newest, 'the newest run is the first of the list')
    assert.deepEqual(new Set(listed), new Set(this.#submitted), 'every run is listed')
    const [first] = await occurrences(server, this.#firstAt, this.#firstAt)
    assert.equal(first?.outcome, 'fired', 'what became of the first time is still known')
  }
}

async function playScenario(
  servers: readonly Server[],
  set: (seconds: number) => void,
  report: CheckReport,
) {
  const story = new Story(servers, set, report)
  await story.begin()
  await story.jump(3_650 * DAY_S, 'jumped forward')
  await pause(8_000)
  set(0)
  await story.assertSane('ten years ahead for 8 s', 0)
  await story.jump(HOUR_S, 'jumped forward')
  await story.assertSane('an hour ahead', HOUR_S)
  await story.jump(0, 'jumped back')
  await story.assertSane('an hour back', 0)
  await story.jump(400 * DAY_S, 'jumped forward')
  await pause(80_000)
  await story.jump(0, 'jumped back')
  await story.assertSane('80 s at 400 days ahead', 0)
  for (const one of servers) {
    assert.match(one.said(), /clock: the wall clock jumped forward/)
    assert.match(await one.clock(), /nothing is deleted by age/)
  }
}

/** `punctual up` on SQLite, whose clock is the machine's. */
export async function jumpOnSqlite(report: CheckReport): Promise<void> {
  const { dir, set, faked, start, end } = openEnvironment()
  try {
    const data = join(dir, 'data')
    await playScenario(
      [await start('up', ['up', '--port', '0', '--data', data, '--open'], faked)],
      set,
      report,
    )
  } finally {
    await end()
  }
}

/** Two nodes on PostgreSQL, whose clock is the database's. */
export async function jumpOnPostgres(report: CheckReport): Promise<void> {
  const { dir, set, faked, start, end } = openEnvironment()
  const postgres = await startPostgres({ env: faked })
  try {
    const store = ['--store', await postgres.createDatabase()]
    const servers: Server[] = []
    for (const name of ['a', 'b']) {
      const args = ['up', '--port', '0', '--data', join(dir, name), '--open', ...store]
      servers.push(await start(name, args, {}))
    }
    await playScenario(servers, set, report)
  } finally {
    await end()
    await postgres.stop()
  }
}
