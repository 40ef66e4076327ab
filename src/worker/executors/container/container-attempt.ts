import { chmod, writeFile } from 'node:fs/promises'
import type { ContainerWork, Mount } from '../../../core/work/container-work.ts'
import { applyBounds, type LimitBounds } from '../../../core/work/limit-bounds.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { formatSize } from '../../../core/text/size.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'
import type { StopCause } from '../../attempts/handler.ts'
import type { Launcher, StartedChild, StartInput } from '../../launcher/launcher.ts'
import { killMarked } from '../../launcher/process-tree.ts'
import { messageOf, type Settled } from '../../attempts/outcome.ts'
import type { AttemptFiles, AttemptFileStore } from '../files/attempt-files.ts'
import { environmentOf } from '../process/command.ts'
import type { AttemptHooks } from '../../attempts/running-attempt.ts'
import {
  type AttemptResult,
  PrintingAttempt,
  type PrintingDeps,
} from '../../attempts/printing-attempt.ts'
import { type AllowedMount, allowMounts } from './allowed-mounts.ts'
import { ask, type Engine, lastLine } from './engine.ts'
import type { EngineLaunchers } from './engine-launchers.ts'
import { killPartialContainers } from './partial-containers.ts'
import type { Janitor } from './janitor.ts'
import { wasKilledForMemory } from './kernel-log.ts'
import { OWNER_LABEL } from './owner.ts'
import type { Removals } from './removals.ts'
import { envFileOf, inherited, INSIDE, runArguments } from './run-arguments.ts'

export interface ContainerDeps extends PrintingDeps {
  readonly engine: Engine
  readonly allowMounts: readonly AllowedMount[]
  readonly args: readonly string[]
  readonly bounds: LimitBounds
  readonly fileStore: AttemptFileStore
  readonly owner: string
  readonly janitor: Janitor
  readonly launchers: Pick<EngineLaunchers, 'pick'>
  readonly removals: Pick<Removals, 'remove'>
}

const DEFAULT_GRACE_MS = 10_000
/** How much of the end of the engine's error output is kept to explain why nothing started. */
const ERROR_TEXT_LENGTH = 2_000

/** A running container: the engine's command, and the container behind it. */
export class ContainerAttempt extends PrintingAttempt {
  readonly #work: ContainerWork
  readonly #deps: ContainerDeps
  readonly #name: string
  readonly #limits: WorkLimits
  /** Limits that were reduced to the maximum of this worker. */
  readonly #limitMessages: readonly string[]
  #child: StartedChild | undefined
  readonly #interrupted = Promise.withResolvers<undefined>()
  #errorText = ''

  constructor(
    assignment: Assignment,
    work: ContainerWork,
    hooks: AttemptHooks,
    deps: ContainerDeps,
  ) {
    const { limits, messages } = applyBounds(work.limits, deps.bounds)
    super(assignment, hooks, { ...deps, outputLimitBytes: limits.output_bytes, readsMarkers: true })
    this.#work = work
    this.#deps = deps
    this.#name = `punctual-${assignment.run}-${assignment.fence}`
    this.#limits = limits
    this.#limitMessages = messages
  }

  protected async work(): Promise<AttemptResult> {
    for (const message of this.#limitMessages) this.addWorkerLine(message)
    const { fileStore } = this.#deps
    let files: AttemptFiles | undefined
    try {
      files = fileStore.open(this.assignment, undefined)
      return await this.#perform(files)
    } catch (error) {
      return { settled: { kind: 'unstartable', message: messageOf(error) } }
    } finally {
      if (files) await fileStore.clear(this.assignment, files).catch(() => {})
    }
  }

  protected interrupt(why: StopCause): void {
    const { kill_grace_ms: graceMs = DEFAULT_GRACE_MS } = this.#work
    this.#child?.stop(why === 'lease_lost' ? 0 : graceMs)
    this.#interrupted.resolve(undefined)
  }

  protected throttle(isPaused: boolean): void {
    if (isPaused) this.#child?.pause()
    else this.#child?.resume()
  }

  async #perform(files: AttemptFiles): Promise<AttemptResult> {
    const order = await this.#prepare(files)
    if ('refused' in order) return { settled: { kind: 'unstartable', message: order.refused } }
    const { janitor, launchers, removals } = this.#deps
    const launcher = await Promise.race([launchers.pick(), this.#interrupted.promise])
    if (!launcher) return { settled: { kind: 'unstarted' } }
    await janitor.watch(this.#name)
    let end: Ended | undefined
    try {
      if (this.stopped) return { settled: { kind: 'unstarted' } }
      end = await this.#run(launcher, order)
      return await this.#conclude(end, files)
    } finally {
      const isRemoved = await removals.remove(this.#name)
      if (end === 'lost' || (end && 'code' in end && end.code === null)) {
        killPartialContainers(new Set([this.#name]))
      }
      if (isRemoved) janitor.release(this.#name)
    }
  }

  async #prepare(files: AttemptFiles): Promise<StartInput | { readonly refused: string }> {
    const { engine, fileStore, owner, args: extra } = this.#deps
    const mounts = allowMounts(this.#work.mounts ?? [], this.#deps.allowMounts)
    if ('refused' in mounts) return mounts
    const inside = { ...INSIDE, script: '', envFile: '', tmp: undefined }
    const env = environmentOf(this.assignment, { base: {}, files: inside, user: undefined })
    await fileStore.prepare(this.assignment, files)
    // Any user inside the container must be able to read and write these files. On the host, their
    // directory is closed to others.
    await writeFile(files.output, '')
    await chmod(files.output, 0o666)
    const given = this.#inputMounts(files)
    if (this.assignment.input !== null) await chmod(files.input, 0o644)
    const args = runArguments(this.#work, {
      name: this.#name,
      labels: { [OWNER_LABEL]: owner, 'punctual.run': this.assignment.run },
      limits: this.#limits,
      mounts: [...mounts, { source: files.output, target: INSIDE.output }, ...given],
      env,
      envFile: files.envFile,
      extra,
    })
    const passedEnv = Object.fromEntries(inherited(env).map((name) => [name, env[name] ?? '']))
    return {
      file: engine.command,
      args: [...engine.args, ...args],
      env: { ...engine.env, ...passedEnv },
      cwd: '/',
      stdin: this.#work.stdin,
      umask: undefined,
      secretFiles: fileStore.secretFiles(this.assignment, { mode: 0o644, envFile: envFileOf(env) }),
    }
  }

  /** The files the container may read: its input, and secrets requested as files. */
  #inputMounts({ input, secrets }: AttemptFiles): Mount[] {
    const asFiles = (this.assignment.secrets ?? []).filter(({ as }) => as === 'file')
    return [
      ...(this.assignment.input === null ? [] : [{ source: input, target: INSIDE.input }]),
      ...asFiles.map(({ name }) => ({ source: secrets + name, target: INSIDE.secrets + name })),
    ].map((file) => ({ ...file, readonly: true }))
  }

  #run(launcher: Launcher, order: StartInput): Promise<Ended> {
    return new Promise((resolve) => {
      this.#child = launcher.start(order, {
        onOutput: ({ stream, bytes }) => {
          if (stream === 2)
            this.#errorText = (this.#errorText + bytes.toString()).slice(-ERROR_TEXT_LENGTH)
          this.print(stream, bytes)
        },
        onUnstartable: (message) => resolve({ message }),
        onEnd: (code, signal) => resolve({ code, signal }),
        onAbandoned() {
          resolve('lost')
        },
      })
    })
  }

  async #conclude(end: Ended, files: AttemptFiles): Promise<AttemptResult> {
    if (end === 'lost') {
      killMarked(this.assignment)
      return { settled: { kind: 'unstarted' }, isLost: true }
    }
    if ('message' in end) return { settled: { kind: 'unstartable', message: end.message } }
    const { code, signal } = end
    const process = {
      ...(code === null ? { signal: signal ?? '?' } : { exit_code: code }),
      containment: 'container',
    }
    if (code === 0) return { ...(await this.#succeed(files)), process }
    // An engine that was killed or stopped explains nothing.
    const endedByItself = code !== null && !this.stopped
    const settled = (endedByItself && (await this.#explain())) || settledOf(code, signal)
    return settled.kind === 'unstartable' ? { settled } : { settled, process }
  }

  async #succeed(files: AttemptFiles): Promise<AttemptResult> {
    const { text, problem } = await this.#deps.fileStore.readResult(files, this.masker)
    if (problem !== undefined) return { settled: { kind: 'broken', message: problem } }
    return { settled: { kind: 'exited', code: 0 }, result: text }
  }

  /**
   * Asks the engine for what the exit code does not say: nothing was started, or memory ran out.
   */
  async #explain(): Promise<Settled | undefined> {
    const format = '{{.Id}} {{.State.OOMKilled}} {{.State.StartedAt}}'
    const words = ['inspect', '--type', 'container', '--format', format, this.#name]
    const { ok, out } = await ask(this.#deps.engine, words)
    const [id = '', oom, startedAt = YEAR_OF_NEVER_STARTED] = out.trim().split(' ')
    if (!ok || startedAt.startsWith(YEAR_OF_NEVER_STARTED)) {
      return { kind: 'unstartable', message: unstarted(this.#work, lastLine(this.#errorText)) }
    }
    const { memory_bytes: most } = this.#limits
    if (oom !== 'true' && (most === undefined || !wasKilledForMemory(id))) return undefined
    const message =
      most === undefined
        ? 'killed because the machine had no memory left'
        : `killed because it needed more memory than its limit of ${formatSize(most)}`
    this.addWorkerLine(message)
    return { kind: 'failed', cause: 'oom', message }
  }
}

type Ended =
  | { readonly code: number | null; readonly signal: string | null }
  | { readonly message: string }
  | 'lost'

/** The start year that engines report for containers that never started. */
const YEAR_OF_NEVER_STARTED = '0001'

const NO_IMAGE =
  /image not known|no such image|manifest unknown|not found in|pull|initializing source/i

function unstarted({ image }: ContainerWork, engineError: string): string {
  if (NO_IMAGE.test(engineError))
    return `the image ${image} is not here and cannot be fetched: ${engineError}`
  return `the container could not be started: ${engineError || 'the engine gave no reason'}`
}

function settledOf(code: number | null, signal: string | null): Settled {
  return code === null ? { kind: 'signalled', signal: signal ?? '?' } : { kind: 'exited', code }
}
