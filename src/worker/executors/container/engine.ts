import { execFile } from 'node:child_process'
import { isEngineVariable } from '../../../core/work/variable.ts'
import { passedVariables } from '../process/command.ts'

/** The program that runs containers: podman, docker, or a compatible one. */
export interface Engine {
  readonly command: string
  /** Arguments before every command. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface EngineAnswer {
  readonly ok: boolean
  readonly out: string
  /** The engine's error message, in one line. */
  readonly complaint: string
}

export const ENGINES = ['podman', 'docker'] as const

/** A command that takes longer hangs: these queries are answered in milliseconds or not at all. */
export const ANSWER_MS = 30_000

/** Runs with the settings that the operator gave this worker, and with nothing from a job. */
export function createEngine(command: string, args: readonly string[] = []): Engine {
  const own = Object.keys(process.env).filter(isEngineVariable)
  return { command, args, env: passedVariables(process.env, own) }
}

/** Never rejects: an engine that cannot be started is reported as a failed answer. */
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

/** The arguments that kill and remove containers in any state. */
export function removalOf({ command }: Engine, names: readonly string[]): string[] {
  // Docker never waits. Podman would wait for a graceful stop, and would complain of missing
  // containers.
  const now = command.includes('docker') ? [] : ['--time', '0', '--ignore']
  return ['rm', '--force', '--volumes', ...now, ...names]
}

/** Older versions of docker report an error for a container that is already gone. */
export function isRemoved(ok: boolean, complaint: string): boolean {
  return ok || /no such container/i.test(complaint)
}

/** The last line of the engine's error output states the error. */
export function lastLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const last = lines.findLast((line) => line !== '' && !line.startsWith('See ')) ?? ''
  return last.replace(/^(?:docker: )?(?:Error: )?(?:Error response from daemon: )?/, '')
}
