import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { DESCRIPTORS } from '../../launcher/messages.ts'
import { watchLifeline } from '../../launcher/lifeline.ts'
import { backOffMs } from '../../requests/back-off.ts'
import { systemClock, systemRandom } from '../../clock/system-clock.ts'
import { ANSWER_MS, type Engine, isRemoved, removalOf } from './engine.ts'
import { killPartialContainers } from './partial-containers.ts'

/**
 * The janitor: a small process that outlives its worker just long enough to remove the worker's
 * containers. The engine detaches containers from the process that started them, so they survive
 * when the worker or the engine's command is killed.
 */
const engine = JSON.parse(process.argv[2] ?? '') as Engine
const names = new Set<string>()
/** How long the janitor continues without its worker. */
const GIVE_UP_MS = 600_000
let workerEndedMono: number | undefined
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
// The pipe closes when the worker is gone: remove everything.
lines.on('close', () => {
  workerEndedMono = systemClock.mono()
  removeAll()
})
process.stdout.write('ready\n')

/** Retries until the containers are gone, because an engine may fail or be away. */
function removeAll(): void {
  if (removeNamed()) {
    failures = 0
    if (workerEndedMono !== undefined) process.exit(0)
    return
  }
  // The next worker on this machine removes the rest.
  if (workerEndedMono !== undefined && systemClock.mono() - workerEndedMono > GIVE_UP_MS)
    process.exit(1)
  if (isWaiting) return
  failures += 1
  isWaiting = true
  void systemClock.sleep(backOffMs(failures, systemRandom)).then(() => {
    isWaiting = false
    // A worker that renewed its lease in the meantime removes its own containers, and may have
    // started new ones.
    if (workerEndedMono !== undefined || !isLifelineHeld()) removeAll()
  })
}

function removeNamed(): boolean {
  if (names.size === 0) return true
  const { command, args, env } = engine
  const { status, stderr, error } = spawnSync(
    command,
    [...args, ...removalOf(engine, [...names])],
    {
      env: { ...env },
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      timeout: ANSWER_MS,
      killSignal: 'SIGKILL',
    },
  )
  killPartialContainers(names)
  // Without an engine there is nothing to ask; the next worker that finds one removes the
  // containers.
  if (error && 'code' in error && error.code === 'ENOENT') return true
  const complaints = (stderr ?? '').split('\n').filter((line) => line !== '')
  const isOnlyLate = complaints.length > 0 && complaints.every((line) => isRemoved(false, line))
  return status === 0 || isOnlyLate
}
