import { createInterface } from 'node:readline'
import type { Measurements } from './scenario.ts'

/** The child's half of the line protocol: settings come as an argument, answers go to stdout. */
export function readSettings(): unknown {
  return JSON.parse(process.argv[2] ?? '{}')
}

export function say(type: string, fields: object = {}): void {
  process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`)
}

/** Measures once and reports. The process ends itself: peers leave timers and sockets behind. */
export function measure(body: () => Promise<Measurements>): void {
  onWords(
    () => {},
    () => process.exit(1),
  )
  body().then(
    (measurements) => {
      process.stdout.write(`${JSON.stringify({ type: 'result', measurements })}\n`, () =>
        process.exit(0),
      )
    },
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
}

/** Serves until the parent closes the pipe, also by dying: nothing outlives the benchmark. */
export function onWords(hear: (word: string) => void, ended: () => void): void {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', hear)
  lines.on('close', ended)
}

export class NotVerified extends Error {
  constructor(what: string, expected: number, found: number) {
    super(`${what}: expected ${expected}, the store has ${found}`)
    this.name = 'NotVerified'
  }
}

/** A figure counts only if the store agrees with it. */
export function verify(what: string, expected: number, found: number): void {
  if (expected !== found) throw new NotVerified(what, expected, found)
}
