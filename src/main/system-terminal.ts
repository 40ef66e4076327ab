import { setTimeout as pause } from 'node:timers/promises'
import type { Terminal } from '../cli/terminal.ts'

/** The terminal this process was started from, or the pipes in its place. */
export function createSystemTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  const isInteractive = stdin.isTTY && stderr.isTTY
  const hasColour = stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outBytes: (bytes) => void stdout.write(bytes),
    errBytes: (bytes) => void stderr.write(bytes),
    now: () => Date.now(),
    isInteractive,
    hasColour,
    columns: stdout.columns ?? (Number(env['COLUMNS']) || 120),
    env,
    cwd: process.cwd(),
    nextInterrupt: () =>
      new Promise((resolve) => {
        process.once('SIGINT', () => resolve())
      }),
    askKey: (question) =>
      new Promise((resolve) => {
        stderr.write(question)
        stdin.setRawMode(true)
        stdin.resume()
        stdin.once('data', (bytes: Buffer) => {
          stdin.setRawMode(false)
          stdin.pause()
          stderr.write('\n')
          resolve(bytes.toString().slice(0, 1))
        })
      }),
    sleep: (ms) => pause(ms),
  }
}
