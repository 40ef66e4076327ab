import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { DESCRIPTORS } from '../../launcher/messages.ts'
import { watchLifeline } from '../../launcher/lifeline.ts'
import { type Engine, removalOf } from './engine.ts'
import { endHalfMade } from './half-made.ts'

/**
 * The janitor: a small process that outlives a worker by just long enough to remove its containers.
 * They are nobody's children: the engine has taken them away from whoever started them, so to kill
 * the worker, or the engine's own command, does not end them.
 */
const engine = JSON.parse(process.argv[2] ?? '') as Engine
const names = new Set<string>()
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
  removeAll()
  process.exit(0)
})
process.stdout.write('ready\n')

function removeAll(): void {
  if (names.size === 0) return
  const { command, args, env } = engine
  const words = [...args, ...removalOf(engine, [...names])]
  spawnSync(command, words, { env: { ...env }, cwd: '/', stdio: 'ignore' })
  endHalfMade(names)
}
