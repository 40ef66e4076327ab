import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Terminal } from '../cli/terminal/terminal.ts'

/** The terminal this process was started from, or the pipes in its place. */
export function createSystemTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  const isInteractive = stdin.isTTY && stderr.isTTY
  const hasColour = stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  // Whoever read us has read enough, as `head` does: no reason to complain.
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1))
  return {
    out: (text) => void stdout.write(text),
    // One may be a terminal and the other a file.
    err: (text) => void stderr.write(stderr.isTTY ? text : stripVTControlCharacters(text)),
    outBytes: (bytes) => void stdout.write(bytes),
    errBytes: (bytes) => void stderr.write(bytes),
    now: () => Date.now(),
    isInteractive,
    hasColour,
    columns: stdout.columns || Number(env['COLUMNS']) || Infinity,
    env,
    cwd: process.cwd(),
    get zone() {
      return new Intl.DateTimeFormat().resolvedOptions().timeZone
    },
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
    readSecret: async (question) => {
      if (!stdin.isTTY) return text(stdin)
      stderr.write(question)
      const answer = await readUnseen(stdin)
      stderr.write('\n')
      return answer
    },
    sleep: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
  }
}

/** A line that is typed into nothing. */
function readUnseen(input: NodeJS.ReadStream): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: nowhere, terminal: true })
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line)
      lines.close()
    })
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => resolve(undefined))
  })
}
