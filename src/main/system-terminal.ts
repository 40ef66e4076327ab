import { fstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { serversDirectory } from '../cli/server/running-servers.ts'
import type { Terminal } from '../cli/terminal/terminal.ts'
import { systemClock } from '../worker/clock/system-clock.ts'

/** The terminal of this process, or the pipes in its place. */
export function createSystemTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  const isInteractive = stdin.isTTY && stderr.isTTY
  const hasColour = stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  // EPIPE: the reader has closed the pipe, as `head` does, which is not an error.
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1))
  return {
    out: (text) => void stdout.write(text),
    // One of the streams may be a terminal and the other a file.
    err: (text) => void stderr.write(stderr.isTTY ? text : stripVTControlCharacters(text)),
    outBytes: (bytes) => void stdout.write(bytes),
    errBytes: (bytes) => void stderr.write(bytes),
    now: () => Date.now(),
    mono: systemClock.mono,
    isInteractive,
    hasColour,
    columns: stdout.columns || Number(env['COLUMNS']) || Infinity,
    env,
    cwd: process.cwd(),
    stateDirectory: dirname(serversDirectory(env)),
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
      const answer = await readHidden(stdin)
      stderr.write('\n')
      return answer
    },
    readInput: (mostBytes) => (hasInput() ? readUpTo(stdin, mostBytes) : undefined),
    sleep: (ms, signal) => pause(ms, undefined, { signal }).catch(() => {}),
  }
}

/** Ignores devices: the user's shell reads the terminal, and `/dev/null` is empty. */
function hasInput(): boolean {
  try {
    const input = fstatSync(0)
    return input.isFile() || input.isFIFO() || input.isSocket()
  } catch {
    return false
  }
}

async function readUpTo(input: NodeJS.ReadStream, mostBytes: number): Promise<Uint8Array> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of input as AsyncIterable<Buffer>) {
    parts.push(part)
    bytes += part.length
    if (bytes > mostBytes) break
  }
  return Buffer.concat(parts)
}

/** Reads a line from the terminal without showing it. */
function readHidden(input: NodeJS.ReadStream): Promise<string | undefined> {
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
