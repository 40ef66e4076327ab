import type { TestContext } from 'node:test'
import { openLifelineFile } from '../lifeline.ts'
import { type Launcher, type LauncherOptions, type StartInput, startLauncher } from '../launcher.ts'
import type { EndDetails } from '../messages.ts'
import { probeLauncher } from '../probe.ts'
import { findOf } from '../process-tree.ts'

export const FAR = 3_600_000_000_000n
let fences = 0

/** For `skip`: why there is no such launcher here, if there is none. */
export async function missing(options: LauncherOptions): Promise<string | false> {
  return probeLauncher(options).then(
    () => false,
    (error: unknown) => `this machine has none: ${String(error)}`,
  )
}

export async function open(t: TestContext, options: LauncherOptions): Promise<Launcher> {
  return (await openFor(t, FAR, options)).launcher
}

export async function openFor(t: TestContext, ns: bigint, options: LauncherOptions) {
  const lifeline = openLifelineFile()
  const launcher = await startLauncher(lifeline.fd, options)
  t.after(async () => {
    launcher.close()
    await launcher.gone
    lifeline.close()
  })
  lifeline.renew(process.hrtime.bigint() + ns)
  return { launcher, lifeline }
}

/** A command in a tree of its own, and what became of it. */
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
  const given = { file: '/bin/sh', args: ['-c', command], env, cwd: undefined }
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
  return { child, seen, mark, ended: ended.promise, left: () => findOf(mark) }
}
