import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { skipWithout } from '../../../test/support/skip-without.ts'
import { launcherContract } from './contract.ts'
import { createFrameReader } from './frames.ts'
import { openLifelineFile } from './lifeline.ts'
import type { LauncherOrder, LauncherReport } from './messages.ts'
import { compileLauncher, FLAGS } from './native-build.ts'
import { orderFrame } from './order-frames.ts'
import { readReport } from './report-frames.ts'

const skip = skipWithout('cc', 'gcc')
/** The native launcher, compiled to abort on any invalid memory access. */
const native = skip ? '' : await compileLauncher(FLAGS.sanitized)

if (!skip) {
  for (const containment of ['pidns', 'cgroup', 'group'] as const) {
    await launcherContract(`sanitized, at level ${containment}`, {
      kind: 'native',
      containment,
      native,
    })
  }
}

const EXIT = { well: 0, garbage: 65 } as const

interface Answer {
  readonly code: number | null
  readonly errors: string
  readonly reports: readonly LauncherReport[]
}

/** Sends bytes to a launcher, closes the pipe, and returns the launcher's output. */
async function exchange(
  bytes: readonly Buffer[],
  { isHeld }: { isHeld: boolean },
): Promise<Answer> {
  const lifeline = openLifelineFile()
  if (isHeld) lifeline.renew(process.hrtime.bigint() + 60_000_000_000n)
  const launcher: ChildProcess = spawn(native, ['auto', ''], {
    stdio: ['pipe', 'ignore', 'pipe', lifeline.fd, 'pipe'],
    env: {},
  })
  const reports: LauncherReport[] = []
  let errors = ''
  launcher.stderr?.on('data', (text) => (errors += String(text)))
  const listen = createFrameReader((kind, content) => {
    reports.push(readReport(kind, content, 'native'))
  })
  ;(launcher.stdio[4] as NodeJS.ReadableStream).on('data', listen)
  const orders = launcher.stdin as Writable
  orders.on('error', () => {})
  for (const piece of bytes) orders.write(piece)
  orders.end()
  const [code] = (await once(launcher, 'close')) as [number | null]
  lifeline.close()
  return { code, errors, reports }
}

const FILES = mkdtempSync(join(tmpdir(), 'punctual-sanitized-'))
after(() => rmSync(FILES, { recursive: true }))

/** An unprivileged user, and any other number. */
const uint = fc.oneof(fc.constant(65_534), fc.nat(0xff_ff_ff_ff))

const order: fc.Arbitrary<LauncherOrder> = fc.oneof(
  fc.record({
    order: fc.constant('start' as const),
    child: fc.nat(5),
    file: fc.constantFrom('/bin/true', '/no/such', ''),
    args: fc.array(fc.string(), { maxLength: 3 }),
    env: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
    cwd: fc.constantFrom('/', '/no/such', undefined),
    stdin: fc.option(fc.string({ maxLength: 100_000 }), { nil: undefined }),
    umask: fc.constantFrom(0o22, undefined),
    timeoutMs: fc.constantFrom(0, 10_000, undefined),
    graceMs: fc.constantFrom(0, 10, undefined),
    user: fc.option(
      fc.record({ uid: uint, gid: uint, groups: fc.array(uint, { maxLength: 40 }) }),
      { nil: undefined },
    ),
    secretFiles: fc.option(
      fc.record({
        directory: fc.constantFrom('/no/such', FILES),
        files: fc.array(
          fc.record({
            name: fc.constantFrom('a', 'b', '..', 'c/d', ''),
            mode: fc.constantFrom(0o600, 0o644, 0o7777),
            content: fc.string({ maxLength: 100_000 }),
          }),
          { maxLength: 3 },
        ),
      }),
      { nil: undefined },
    ),
    limits: fc.option(
      fc.record(
        {
          memoryBytes: fc.constantFrom(1, 64 * 2 ** 20, 2 ** 50),
          cpu: fc.constantFrom(0.001, 1, 1_000),
          pids: fc.constantFrom(1, 20, 2 ** 31),
          files: fc.constantFrom(1, 64, 2 ** 31),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
  }),
  fc.record({ order: fc.constant('stop' as const), child: fc.nat(5), graceMs: fc.nat(100) }),
  fc.record({ order: fc.constantFrom('pause', 'resume'), child: fc.nat(5) }),
)

/** Changes, removes or repeats a few bytes. */
const damage = fc.array(fc.record({ at: fc.nat(), byte: fc.nat(255), how: fc.nat(2) }), {
  maxLength: 4,
})

function damaged(
  frames: Buffer,
  edits: readonly { at: number; byte: number; how: number }[],
): Buffer {
  let bytes = Buffer.from(frames)
  for (const { at, byte, how } of edits) {
    if (bytes.length === 0) break
    const place = at % bytes.length
    if (how === 0) bytes[place] = byte
    else if (how === 1) bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)])
    else bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place / 2)])
  }
  return bytes
}

function assertNoCrash({ code, errors, reports }: Answer): void {
  assert.ok(code === EXIT.well || code === EXIT.garbage, `it ended with ${code}: ${errors}`)
  assert.doesNotMatch(errors, /Sanitizer|runtime error/)
  assert.equal(reports[0]?.report, 'ready')
}

const runs = { numRuns: 60, endOnFailure: true }

describe('any input to a launcher', { skip }, () => {
  test('of random bytes is refused with an exit code of its own', async () => {
    const noise = fc.uint8Array({ minLength: 1, maxLength: 300 })
    const property = fc.asyncProperty(noise, async (bytes) => {
      assertNoCrash(await exchange([Buffer.from(bytes)], { isHeld: true }))
    })
    await fc.assert(property, runs)
    const { code, errors } = await exchange([Buffer.alloc(1_000, 255)], { isHeld: true })
    assert.equal(code, EXIT.garbage)
    assert.match(errors, /an order that is too long/)
  })

  test('of damaged orders ends it or is executed, and causes no invalid access', async () => {
    const property = fc.asyncProperty(
      fc.array(order, { maxLength: 6 }),
      damage,
      async (orders, edits) => {
        const frames = Buffer.concat(orders.map(orderFrame))
        assertNoCrash(await exchange([damaged(frames, edits)], { isHeld: true }))
      },
    )
    await fc.assert(property, runs)
  })

  test('starts nothing without a lease', async () => {
    const property = fc.asyncProperty(
      fc.array(order, { maxLength: 6 }),
      damage,
      async (orders, edits) => {
        const frames = Buffer.concat(orders.map(orderFrame))
        const answer = await exchange([damaged(frames, edits)], { isHeld: false })
        assertNoCrash(answer)
        assert.ok(
          answer.reports.every(({ report }) => report === 'ready' || report === 'unstartable'),
        )
      },
    )
    await fc.assert(property, runs)
  })

  test('with wrong arguments gets the usage message', () => {
    const { status, stderr } = spawnSync(native, [], { encoding: 'utf8' })
    assert.deepEqual([status, stderr.startsWith('usage: ')], [64, true])
  })
})
