import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { skipWithout } from '../support/skip-without.ts'
import { BIN, type PunctualHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

export const skipWithoutTmux = skipWithout('tmux')
export const COLUMNS = 80
const DEADLINE_MS = 30_000
const SHELL = `env PS1='$ ' bash --norc --noprofile`

/** A window of a real terminal, 80 columns wide, with a shell in it. */
export interface Pane {
  /** Types a line. */
  type(line: string): void
  /** Presses keys, by their tmux names. */
  press(...keys: string[]): void
  /** The screen and its history; lines broken by the terminal are joined. */
  text(): string
  /** The same with colour codes. */
  painted(): string
  /** Resolves with the screen once it matches. */
  shows(pattern: RegExp): Promise<string>
  /** Types a command; resolves with its output and exit code. */
  run(line: string): Promise<{ shown: string; code: number }>
  clear(): void
}

export interface Tmux {
  openPane(): Pane
}

/** A private tmux server with the environment of a test. */
export function startTmux({ dir, env, atEnd }: PunctualHome): Tmux {
  const socket = `punctual-${randomBytes(6).toString('hex')}`
  const { TMUX: _outer, ...clean } = env
  const path = `${dirname(BIN)}:${process.env['PATH'] ?? ''}`
  const shellEnv = { ...clean, PATH: path, TERM: 'xterm-256color', TMUX_TMPDIR: dir }
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      env: { ...shellEnv, LC_ALL: 'C.UTF-8' },
      encoding: 'utf8',
    })
  let panes = 0

  return {
    openPane() {
      panes += 1
      const name = `pane${panes}`
      const size = ['-x', String(COLUMNS), '-y', '24']
      tmux('new-session', '-d', '-s', name, ...size, '-c', dir, SHELL)
      if (panes === 1) atEnd(() => void tmux('kill-server'))
      return createPane((...args) => tmux(...args), name)
    },
  }
}

function createPane(tmux: (...args: string[]) => string, name: string): Pane {
  const capture = (...flags: string[]) =>
    // Cuts the empty end of the screen.
    tmux('capture-pane', '-p', '-J', '-S', '-', '-t', name, ...flags).replace(/\s+$/, '\n')
  let commands = 0

  const pane: Pane = {
    type(line) {
      tmux('send-keys', '-t', name, '-l', line)
      pane.press('Enter')
    },
    press: (...keys) => void tmux('send-keys', '-t', name, ...keys),
    text: () => capture().replaceAll(/ +$/gm, ''),
    painted: () => capture('-e'),
    async shows(pattern) {
      const options = { what: String(pattern), deadlineMs: DEADLINE_MS, intervalMs: 50 }
      try {
        return await waitFor(() => (pattern.test(pane.text()) ? pane.text() : undefined), options)
      } catch (error) {
        throw new Error(`the terminal does not show ${pattern} but\n${pane.text()}`, {
          cause: error,
        })
      }
    },
    async run(line) {
      commands += 1
      pane.type(`${line}; echo "=${commands}= $?"`)
      const screen = await pane.shows(new RegExp(`=${commands}= \\d+$`, 'm'))
      const [, shown = '', code = ''] =
        new RegExp(`"=${commands}= \\$\\?"\\n?([^]*?)=${commands}= (\\d+)$`, 'm').exec(screen) ?? []
      return { shown, code: Number(code) }
    },
    clear() {
      pane.press('-R', 'C-l')
      tmux('clear-history', '-t', name)
    },
  }
  return pane
}
