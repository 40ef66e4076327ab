import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Abilities, Limit } from '../../launcher/messages.ts'
import { probeLauncher } from '../../launcher/probe.ts'
import { findAttemptProcesses } from '../../launcher/process-tree.ts'
import { openProcessWorker, sh } from '../../testing/process-worker.ts'

const abilities = await probeLauncher()
const MIB = 1024 ** 2
/** Unique run ids: processes with these marks are searched on the whole machine. */
const RUN = { a: `run_${process.pid}_a`, b: `run_${process.pid}_b`, c: `run_${process.pid}_c` }

/** Skips what this machine cannot enforce, with the reason in the report. */
function needs(limit: Limit, { limits, why }: Pick<Abilities, 'limits' | 'why'> = abilities) {
  return { skip: !limits.includes(limit) && `no limit of ${limit} here: ${why}` }
}

/** Another attempt on the same worker, which must not be affected. */
const NEIGHBOUR = sh('for i in 1 2 3; do sleep 0.2; seq 1 2000 | tail -n 1; done')

test('the level of containment is recorded with the end', async (t) => {
  const { perform } = await openProcessWorker(t)
  assert.equal((await perform(RUN.a, sh('true'))).process?.containment, abilities.containment)
})

/** Limits hold at every level of containment. */
for (const containment of ['pidns', 'cgroup', 'group'] as const) {
  const able = await probeLauncher({ containment }).catch((error: Error) => {
    return { limits: [], why: error.message }
  })

  test(
    `${containment}: an attempt that needs more memory is killed as a whole`,
    needs('memory', able),
    async (t) => {
      const { perform, textOf } = await openProcessWorker(t, { containment })
      const limits = { memory_bytes: 32 * MIB }
      const hog = 'sleep 1000 & echo up; head -c 300000000 /dev/zero | tail; echo never'
      const [hogged, neighbour] = await Promise.all([
        perform(RUN.a, sh(hog, { limits })),
        perform(RUN.b, NEIGHBOUR),
      ])
      const why = 'killed because it needed more memory than its limit of 32 MiB'
      assert.deepEqual([hogged.outcome, hogged.cause, hogged.message], ['failed', 'oom', why])
      assert.equal(hogged.process?.containment, containment)
      // On v1 one process is killed first, and the others may print before they are killed.
      assert.match(textOf(RUN.a), /^up\n/)
      assert.equal(textOf(RUN.a, 0), `punctual: ${why}\n`)
      assert.deepEqual(findAttemptProcesses({ run: RUN.a, fence: String(hogged.fence) }), [])
      assert.equal(neighbour.outcome, 'succeeded')
      const fits = sh('head -c 1000000 /dev/zero | tail | wc -c', { limits })
      assert.equal((await perform(RUN.c, fits)).outcome, 'succeeded')
      assert.equal(textOf(RUN.c), '1000000\n')
    },
  )

  test(`${containment}: a fork bomb stays within its limit`, needs('pids', able), async (t) => {
    const { perform, textOf } = await openProcessWorker(t, { containment })
    const bomb = sh('b() { b | b & }; b; sleep 1000', { limits: { pids: 30 }, kill_grace_ms: 0 })
    const [bombed, neighbour] = await Promise.all([
      perform(RUN.a, bomb, { timeoutMs: 2_000 }),
      perform(RUN.b, NEIGHBOUR),
    ])
    assert.equal(bombed.outcome, 'failed')
    assert.match(textOf(RUN.a, 0), /refused another process or thread .*: its limit is 30/)
    assert.deepEqual(findAttemptProcesses({ run: RUN.a, fence: String(bombed.fence) }), [])
    assert.equal(neighbour.outcome, 'succeeded')
  })
}

test('64 busy processes share the limit of one attempt', needs('cpu'), async (t) => {
  const { perform, textOf } = await openProcessWorker(t)
  const spin = 'i=0; while [ $i -lt 64 ]; do (while :; do :; done) & i=$((i+1)); done; wait'
  const [spun, neighbour] = await Promise.all([
    perform(RUN.a, sh(spin, { limits: { cpu: 0.5 }, kill_grace_ms: 0 }), { timeoutMs: 3_000 }),
    perform(RUN.b, NEIGHBOUR),
  ])
  assert.deepEqual([spun.cause, neighbour.outcome], ['timeout', 'succeeded'])
  assert.deepEqual(findAttemptProcesses({ run: RUN.a, fence: String(spun.fence) }), [])

  // Compares CPU time with elapsed time: a busy machine only makes the ratio smaller.
  const count =
    'while read -r now _ < /proc/uptime; do now=${now%.*}; : ${end:=$((now + 4))};' +
    ' [ "$now" -ge "$end" ] && break; done; cut -d" " -f14,15 /proc/$$/stat'
  await perform(RUN.c, sh(count, { limits: { cpu: 0.1 } }))
  const [user = 0, system = 0] = textOf(RUN.c).trim().split(' ').map(Number)
  assert.ok(user + system > 0 && user + system < 200, `${user} + ${system} ticks in four seconds`)
})

test('files beyond the limit cannot be opened', needs('files'), async (t) => {
  const { perform, textOf } = await openProcessWorker(t)
  const open =
    'ulimit -n; ulimit -Hn; for n in 3 4 5 6 7 8 9; do eval "exec $n</dev/null"; done; exec cat /dev/null'
  await perform(RUN.a, sh(open, { limits: { files: 16 } }))
  assert.match(textOf(RUN.a), /^16\n16\n/)
})

test('a limit that cannot be enforced is refused', async (t) => {
  const { perform } = await openProcessWorker(t, { launcher: 'node' })
  const done = await perform(RUN.a, sh('true', { limits: { memory_bytes: 64 * MIB } }))
  assert.deepEqual([done.outcome, done.cause], ['failed', 'start_error'])
  assert.match(done.message ?? '', /cannot hold a command to a limit of memory of 64 MiB: \S+/)
})

test("the worker's limits apply to commands that set none", needs('memory'), async (t) => {
  const limits = { memory: { default: 24 * MIB, max: 48 * MIB } }
  const { perform, textOf } = await openProcessWorker(t, { limits })
  const hog = 'head -c 300000000 /dev/zero | tail'
  assert.match((await perform(RUN.a, sh(hog))).message ?? '', /limit of 24 MiB/)
  const more = await perform(RUN.b, sh(hog, { limits: { memory_bytes: 512 * MIB } }))
  assert.match(more.message ?? '', /limit of 48 MiB/)
  assert.match(textOf(RUN.b, 0), /limits\.memory is 48 MiB, the maximum of this worker/)
})
