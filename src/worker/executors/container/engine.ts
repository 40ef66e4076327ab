import { execFile } from 'node:child_process'
import { isAboutEngine } from '../../../core/work/variable.ts'
import { letThrough } from '../process/command.ts'

/** The program that runs containers here: podman, docker, or something that behaves like them. */
export interface Engine {
  readonly command: string
  /** Stand before every command of its own. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface EngineAnswer {
  readonly ok: boolean
  readonly out: string
  /** What it complained about, in one line. */
  readonly complaint: string
}

export const ENGINES = ['podman', 'docker'] as const

/** A command that takes longer hangs: what it asks is answered in milliseconds, or not at all. */
export const ANSWER_MS = 30_000

/** With the settings that its operator gave this worker, and nothing of any job. */
export function createEngine(command: string, args: readonly string[] = []): Engine {
  const own = Object.keys(process.env).filter(isAboutEngine)
  return { command, args, env: letThrough(process.env, own) }
}

/** Never rejects: what cannot be started has nothing good to say either. */
export function ask(
  { command, args, env }: Engine,
  words: readonly string[],
  signal?: AbortSignal,
): Promise<EngineAnswer> {
  return new Promise((resolve) => {
    const options = {
      env: { ...env },
      cwd: '/',
      timeout: ANSWER_MS,
      killSignal: 'SIGKILL',
      ...(signal && { signal }),
    } as const
    execFile(command, [...args, ...words], options, (error, out, err) => {
      const complaint = lastLine(err) || (error?.message ?? '')
      resolve({ ok: error === null, out, complaint })
    })
  })
}

/** Ends containers, whatever they are doing, and leaves nothing of them. */
export function removalOf({ command }: Engine, names: readonly string[]): string[] {
  // Docker never waits; podman would be polite first, and complain of what is gone already.
  const now = command.includes('docker') ? [] : ['--time', '0', '--ignore']
  return ['rm', '--force', '--volumes', ...now, ...names]
}

/** Older dockers complain of what is gone already. */
export function isRemoved(ok: boolean, complaint: string): boolean {
  return ok || /no such container/i.test(complaint)
}

/** What an engine says last is what went wrong. */
export function lastLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const last = lines.findLast((line) => line !== '' && !line.startsWith('See ')) ?? ''
  return last.replace(/^(?:docker: )?(?:Error: )?(?:Error response from daemon: )?/, '')
}
