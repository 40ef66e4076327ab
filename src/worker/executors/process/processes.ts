import type { Clock } from '../../../core/clock.ts'
import type { Execution } from '../../../core/worker/execution.ts'
import type { LimitBound, LimitBounds } from '../../../core/work/limit-bounds.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import type { ProcessWork } from '../../../core/work/work.ts'
import type { AttemptHooks, RunningAttempt } from '../../attempts/running-attempt.ts'
import type { Launcher, LauncherOptions } from '../../launcher/launcher.ts'
import { killLeftovers } from '../../launcher/leftovers.ts'
import { openLifelineFile } from '../../launcher/lifeline.ts'
import { machineMonoNs } from '../../clock/system-clock.ts'
import { createAttemptFileStore } from '../files/attempt-files.ts'
import { createFullnessWatch } from '../files/fullness-watch.ts'
import { type ExecutionHost, advertise, checkHost } from './host.ts'
import { findUsers } from './local-users.ts'
import { removeDeadWorkerDirectories } from '../files/worker-directory.ts'
import { passedVariables } from './command.ts'
import { secretFilesKind } from '../files/secret-directory.ts'
import { openLaunchers } from './launcher-pool.ts'
import { ProcessAttempt, type ProcessDeps } from './process-attempt.ts'
import { createOutputBuffer, type Echo, type OutputBuffer } from '../../output/output-buffer.ts'

/** What is needed to open the processes, and the callbacks for problems. */
export interface Opening {
  readonly clock: Clock
  onError(error: unknown): void
  /** This many processes of killed workers still ran, and were killed. */
  onLeftovers(count: number): void
}

export interface ProcessOptions {
  /** The number of launchers, which start the processes. */
  readonly launchers?: number | undefined
  /** The working directory of commands that set none. */
  readonly directory?: string | undefined
  /** Names of this worker's own variables that its processes may see. */
  readonly passEnv?: readonly string[] | undefined
  /** Default and maximum limits of commands. */
  readonly limits?: LimitBounds | undefined
  /** Users of this machine that commands may request. */
  readonly allowUsers?: readonly string[] | undefined
  /** The user for commands that request none; the worker's own user if absent. */
  readonly runAs?: string | undefined
  /** Confirms that commands may run as root, which suppresses the warning. */
  readonly allowRoot?: boolean | undefined
  /** The launcher to use and the required containment; default: the strongest available. */
  readonly launcher?: LauncherOptions['kind']
  readonly containment?: LauncherOptions['containment']
  /** The directory in which launchers hold their locks; no locks if absent. */
  readonly locks?: LauncherOptions['locks']
  /**
   * Called with each launcher before it starts a process. If this throws, the launcher is not used.
   */
  readonly onLauncher?: ((launcher: Pick<Launcher, 'pid' | 'abilities'>) => void) | undefined
  /** Copies the output to the worker's terminal. */
  readonly echo?: Echo | undefined
}

/** Everything a worker needs to run processes. */
export interface Processes {
  /** What the worker advertises about its processes when it registers. */
  readonly advertised: { readonly users: readonly string[]; readonly execution: Execution }
  readonly outputBuffer: OutputBuffer
  begin(assignment: Assignment, work: ProcessWork, hooks: AttemptHooks): RunningAttempt
  /** Extends the time that started processes may live. */
  renew(leftMs: number): void
  /** The lifeline file, for the heartbeat thread to renew. */
  readonly lifeline: number
  /** Kills what still runs; resolves when it is gone. */
  close(): Promise<void>
}

const OUTPUT: LimitBound = { default: 64 * 1024 ** 2, max: LIMITS.maxOutputBytes }
const MS = 1_000_000

export async function openProcesses(
  options: ProcessOptions,
  { clock, onError, onLeftovers }: Opening,
): Promise<Processes> {
  const allowed = options.allowUsers ?? []
  const users = await findUsers(options.runAs ? [...allowed, options.runAs] : allowed)
  // Before work is accepted: an assigned run may be one that still runs here.
  const leftovers = killLeftovers()
  if (leftovers > 0) onLeftovers(leftovers)
  void removeDeadWorkerDirectories(onError).catch(onError)
  const outputBuffer = createOutputBuffer()
  const lifeline = openLifelineFile()
  const launchers = await openLaunchers(options.launchers ?? 1, lifeline.fd, {
    kind: options.launcher,
    containment: options.containment,
    locks: options.locks,
    onLauncher: options.onLauncher,
    clock,
    onError,
  })
  const host: ExecutionHost = {
    bounds: { output: OUTPUT, ...options.limits },
    users,
    defaultUser: options.runAs,
    abilities: launchers.abilities,
    secretFiles: secretFilesKind(launchers.abilities.hidesFiles),
    uid: process.getuid?.(),
    isRootAllowed: options.allowRoot ?? false,
  }
  const problem = checkHost(host)
  if (problem) {
    await launchers.close()
    lifeline.close()
    throw problem
  }
  const fileStore = createAttemptFileStore({ clock, onError, isForOthers: true })
  const fullness = createFullnessWatch(clock)

  const deps: ProcessDeps = {
    fileStore,
    environment: passedVariables(process.env, options.passEnv),
    directory: options.directory ?? process.cwd(),
    host,
    fullness,
    launchers,
    outputBuffer,
    echo: options.echo,
  }

  return {
    advertised: advertise(host, allowed),
    outputBuffer,
    lifeline: lifeline.fd,
    begin(assignment, work, hooks) {
      return new ProcessAttempt(assignment, work, hooks, deps)
    },
    renew(leftMs) {
      lifeline.renew(machineMonoNs() + BigInt(Math.max(0, Math.floor(leftMs * MS))))
    },
    async close() {
      fullness.close()
      await launchers.close()
      lifeline.close()
      await fileStore.close()
    },
  }
}
