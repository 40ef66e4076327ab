import { createInterface } from 'node:readline'
import type { Measurements } from './scenario.ts'

/** The variant's side of the protocol with `startChild`: settings are an argument, messages go to stdout. */
export function readVariantSettings(): unknown {
  return JSON.parse(process.argv[2] ?? '{}')
}

export function sendMessage(type: string, fields: object = {}): void {
  process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`)
}

/** Measures once, sends the result and exits: the peers leave timers and sockets open. */
export function measureAndExit(body: () => Promise<Measurements>): void {
  onCommands(
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

/** Calls `onClosed` when the parent closes the pipe or dies, so that no process outlives the benchmark. */
export function onCommands(onCommand: (command: string) => void, onClosed: () => void): void {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', onCommand)
  lines.on('close', onClosed)
}

export class VerificationError extends Error {
  constructor(what: string, expected: number, found: number) {
    super(`${what}: expected ${expected}, the store has ${found}`)
    this.name = 'VerificationError'
  }
}

/** Throws unless the store has the expected number; a variant that fails this has no figure. */
export function verify(what: string, expected: number, found: number): void {
  if (expected !== found) throw new VerificationError(what, expected, found)
}
