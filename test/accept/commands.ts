import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'

/** Checks use the project as a new user would: by its commands, from outside. */
export async function run(command: string, args: readonly string[], cwd?: string): Promise<string> {
  const child = start(command, args, cwd)
  let printed = ''
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return printed
  throw new Error(`${command} ${args.join(' ')} exited with ${code}\n${printed.slice(-2_000)}`)
}

/** Resolves whatever the exit code is. */
export async function attempt(command: string, args: readonly string[], cwd: string) {
  const child = start(command, args, cwd)
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

export function npm(cwd: string, args: readonly string[]): Promise<string> {
  return run('npm', args, cwd)
}

export function npmInBackground(cwd: string, args: readonly string[]) {
  const child = start('npm', args, cwd, { detached: true })
  let printed = ''
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr?.resume()
  return {
    printed: () => printed,
    /** Signals the whole process group, as a terminal would: npm alone may leave its child running. */
    async stop(): Promise<void> {
      if (child.exitCode !== null) return
      const closed = once(child, 'close')
      process.kill(-(child.pid as number), 'SIGTERM')
      await closed
    },
  }
}

function start(
  command: string,
  args: readonly string[],
  cwd: string | undefined,
  options: SpawnOptions = {},
): ChildProcess {
  // The Node that runs the checks must not leak into a clone that brings its own.
  const path = process.env['PATH']?.split(':').filter((dir) => !dir.includes('node_modules'))
  const env = { ...process.env, PATH: path?.join(':') }
  return spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
}
