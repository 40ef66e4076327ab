import type { TestContext } from 'node:test'
import { openLifelineFile } from '../lifeline.ts'
import { type Launcher, type LauncherOptions, type StartInput, startLauncher } from '../launcher.ts'
import type { EndDetails } from '../messages.ts'
import { probeLauncher } from '../probe.ts'
import { findAttemptProcesses } from '../process-tree.ts'

export const FAR_FUTURE = 3_600_000_000_000n
let fences = 0

/** For `skip`: why this machine has no such launcher, or false. */
export async function missing(options: LauncherOptions): Promise<string | false> {
  return probeLauncher(options).then(
    () => false,
    (error: unknown) => `this machine has none: ${String(error)}`,
  )
}

export async function open(t: TestContext, options: LauncherOptions): Promise<Launcher> {
  return (await openFor(t, FAR_FUTURE, options)).launcher
}

export async function openFor(t: TestContext, ns: bigint, options: LauncherOptions) {
  const lifeline = openLifelineFile()
  const launcher = await startLauncher(lifeline.fd, options)
  t.after(async () => {
    launcher.close()
    await launcher.ended
    lifeline.close()
  })
  lifeline.renew(process.hrtime.bigint() + ns)
  return { launcher, lifeline }
}

/** Runs a command in a tree of its own and collects its output and end. */
export function run(launcher: Launcher, command: string, extra: Partial<StartInput> = {}) {
  fences += 1
  const mark = { run: `run_${process.pid}`, fence: String(fences) }
  const env = {
    PATH: process.env['PATH'] ?? '',
    PUNCTUAL_RUN_ID: mark.run,
    PUNCTUAL_FENCE: mark.fence,
  }
  const seen = {
    out: '',
    err: '',
    end: undefined as string | undefined,
    details: undefined as EndDetails | undefined,
  }
  const ended = Promise.withResolvers<string>()
  const end = (how: string) => {
    seen.end = how
    ended.resolve(how)
  }
  // Not the checkout: it may lie below a directory that other users may not enter, such as /root.
  const given = { file: '/bin/sh', args: ['-c', command], env, cwd: '/' }
  const child = launcher.start(
    { ...given, stdin: undefined, umask: undefined, ...extra },
    {
      onOutput({ stream, bytes }) {
        if (stream === 1) seen.out += bytes.toString()
        else seen.err += bytes.toString()
      },
      onUnstartable: (message) => end(`unstartable: ${message}`),
      onEnd(code, signal, details) {
        seen.details = details
        end(code === null ? `signal ${signal}` : `code ${code}`)
      },
      onAbandoned: () => end('abandoned'),
    },
  )
  return { child, seen, mark, ended: ended.promise, left: () => findAttemptProcesses(mark) }
}
