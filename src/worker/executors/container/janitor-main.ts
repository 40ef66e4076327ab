import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { DESCRIPTORS } from '../../launcher/messages.ts'
import { watchLifeline } from '../../launcher/lifeline.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemClock, systemRandom } from '../../clock/system-clock.ts'
import { ANSWER_MS, type Engine, isRemoved, removalOf } from './engine.ts'
import { endHalfMade } from './partial-containers.ts'

/**
 * The janitor: a small process that outlives a worker by just long enough to remove its containers.
 * They are nobody's children: the engine has taken them away from whoever started them, so to kill
 * the worker, or the engine's own command, does not end them.
 */
const engine = JSON.parse(process.argv[2] ?? '') as Engine
const names = new Set<string>()
/** How long it goes on without a worker. */
const GIVE_UP_MS = 600_000
let goneMono: number | undefined
let failures = 0
let isWaiting = false
const isLifelineHeld = watchLifeline(DESCRIPTORS.lifeline, removeAll)

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const name = line.slice(1)
  if (line.startsWith('-')) names.delete(name)
  else names.add(name)
  if (!isLifelineHeld()) removeAll()
})
// The worker is gone, so nobody is left who could want anything.
lines.on('close', () => {
  goneMono = systemClock.mono()
  removeAll()
})
process.stdout.write('ready\n')

/** An engine that fails, or is away, is asked again until they are gone. */
function removeAll(): void {
  if (removeNamed()) {
    failures = 0
    if (goneMono !== undefined) process.exit(0)
    return
  }
  // What the next worker on the machine finds is its to remove.
  if (goneMono !== undefined && systemClock.mono() - goneMono > GIVE_UP_MS) process.exit(1)
  if (isWaiting) return
  failures += 1
  isWaiting = true
  void systemClock.sleep(backOffMs(failures, systemRandom)).then(() => {
    isWaiting = false
    // A worker that is back removes its own, and has new ones by now.
    if (goneMono !== undefined || !isLifelineHeld()) removeAll()
  })
}

function removeNamed(): boolean {
  if (names.size === 0) return true
  const { command, args, env } = engine
  const { status, stderr, error } = spawnSync(
    command,
    [...args, ...removalOf(engine, [...names])],
    {
      ...{ env: { ...env }, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' },
      ...{ timeout: ANSWER_MS, killSignal: 'SIGKILL' },
    },
  )
  endHalfMade(names)
  // Where the engine itself is gone there is nobody to ask; the next worker that finds one removes them.
  if (error && 'code' in error && error.code === 'ENOENT') return true
  const complaints = (stderr ?? '').split('\n').filter((line) => line !== '')
  const isOnlyLate = complaints.length > 0 && complaints.every((line) => isRemoved(false, line))
  return status === 0 || isOnlyLate
}
