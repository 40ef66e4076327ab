import { chmod, rm, writeFile } from 'node:fs/promises'
import type { ContainerWork, Mount } from '../../../core/work/container-work.ts'
import { applyBounds, type LimitBounds } from '../../../core/work/limit-bounds.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { formatSize } from '../../../core/text/size.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'
import type { StopCause } from '../../attempts/handler.ts'
import type { Launcher, StartedChild, StartInput } from '../../launcher/launcher.ts'
import { killMarked } from '../../launcher/process-tree.ts'
import { messageOf, type Settled } from '../../attempts/outcome.ts'
import type { AttemptFiles, FileRoom } from '../process/attempt-files.ts'
import { environmentOf } from '../process/command.ts'
import type { AttemptHooks } from '../../attempts/running-attempt.ts'
import { type Ending, PrintingAttempt, type PrintingDeps } from '../../attempts/printing-attempt.ts'
import { type AllowedMount, allowMounts } from './allowed-mounts.ts'
import { ask, type Engine, lastLine } from './engine.ts'
import { endHalfMade } from './partial-containers.ts'
import type { Janitor } from './janitor.ts'
import { wasKilledForMemory } from './kernel-log.ts'
import { OWNER_LABEL } from './owner.ts'
import { envFileOf, inherited, INSIDE, runArguments } from './run-arguments.ts'

export interface ContainerDeps extends PrintingDeps {
  readonly engine: Engine
  readonly allowMounts: readonly AllowedMount[]
  readonly args: readonly string[]
  readonly bounds: LimitBounds
  readonly room: FileRoom
  readonly owner: string
  readonly janitor: Janitor
  launcher(): Promise<Launcher>
  /** Ends it, if it still runs; false if that failed. */
  remove(name: string): Promise<boolean>
}

const DEFAULT_GRACE_MS = 10_000
/** Of what the engine says, so much of the end is kept to explain why nothing started. */
const WORDS_LENGTH = 2_000

/** A container at work: the engine's own command, and behind it what that command started. */
export class ContainerAttempt extends PrintingAttempt {
  readonly #work: ContainerWork
  readonly #deps: ContainerDeps
  readonly #name: string
  readonly #limits: WorkLimits
  readonly #remarks: readonly string[]
  #child: StartedChild | undefined
  readonly #interrupted = Promise.withResolvers<undefined>()
  #words = ''

  constructor(
    assignment: Assignment,
    work: ContainerWork,
    hooks: AttemptHooks,
    deps: ContainerDeps,
  ) {
    const { limits, remarks } = applyBounds(work.limits, deps.bounds)
    super(assignment, hooks, { ...deps, outputLimitBytes: limits.output_bytes, listens: true })
    this.#work = work
    this.#deps = deps
    this.#name = `punctual-${assignment.run}-${assignment.fence}`
    this.#limits = limits
    this.#remarks = remarks
  }

  protected async work(): Promise<Ending> {
    for (const remark of this.#remarks) this.remark(remark)
    const { room } = this.#deps
    let files: AttemptFiles | undefined
    try {
      files = room.open(this.assignment, undefined)
      return await this.#perform(files)
    } catch (error) {
      return { settled: { kind: 'unstartable', message: messageOf(error) } }
    } finally {
      if (files) {
        await rm(files.script, { force: true }).catch(() => {})
        await room.clear(this.assignment, files).catch(() => {})
      }
    }
  }

  protected interrupt(why: StopCause): void {
    const { kill_grace_ms: graceMs = DEFAULT_GRACE_MS } = this.#work
    this.#child?.stop(why === 'lease_lost' ? 0 : graceMs)
    this.#interrupted.resolve(undefined)
  }

  protected throttle(hasRoom: boolean): void {
    if (hasRoom) this.#child?.resume()
    else this.#child?.pause()
  }

  async #perform(files: AttemptFiles): Promise<Ending> {
    const order = await this.#prepare(files)
    if ('refused' in order) return { settled: { kind: 'unstartable', message: order.refused } }
    const { janitor, remove } = this.#deps
    const launcher = await Promise.race([this.#deps.launcher(), this.#interrupted.promise])
    if (!launcher) return { settled: { kind: 'unstarted' } }
    await janitor.watch(this.#name)
    let end: Ended | undefined
    try {
      if (this.stopped) return { settled: { kind: 'unstarted' } }
      end = await this.#run(launcher, order)
      return await this.#conclude(end, files)
    } finally {
      const isRemoved = await remove(this.#name)
      if (end === 'lost' || (end && 'code' in end && end.code === null)) {
        endHalfMade(new Set([this.#name]))
      }
      if (isRemoved) janitor.release(this.#name)
    }
  }

  async #prepare(files: AttemptFiles): Promise<StartInput | { readonly refused: string }> {
    const { engine, room, owner, args: extra } = this.#deps
    const mounts = allowMounts(this.#work.mounts ?? [], this.#deps.allowMounts)
    if ('refused' in mounts) return mounts
    const inside = { ...INSIDE, script: '', tmp: undefined }
    const env = environmentOf(this.assignment, { base: {}, files: inside, user: undefined })
    await room.prepare(this.assignment, files)
    // Whoever it is inside must be able to read and write them; outside, their directory is closed.
    await writeFile(files.output, '')
    await chmod(files.output, 0o666)
    const given = this.#given(files)
    for (const { source } of given) await chmod(source, 0o644)
    await writeFile(files.script, envFileOf(env), { mode: 0o600 })
    const args = runArguments(this.#work, {
      name: this.#name,
      labels: { [OWNER_LABEL]: owner, 'punctual.run': this.assignment.run },
      limits: this.#limits,
      mounts: [...mounts, { source: files.output, target: INSIDE.output }, ...given],
      ...{ env, envFile: files.script, extra },
    })
    const handedOn = Object.fromEntries(inherited(env).map((name) => [name, env[name] ?? '']))
    return {
      file: engine.command,
      args: [...engine.args, ...args],
      env: { ...engine.env, ...handedOn },
      ...{ cwd: '/', stdin: this.#work.stdin, umask: undefined },
    }
  }

  /** What it may read: its input, and secrets that are wanted as files. */
  #given({ input, secrets }: AttemptFiles): Mount[] {
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
          if (stream === 2) this.#words = (this.#words + bytes.toString()).slice(-WORDS_LENGTH)
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

  async #conclude(end: Ended, files: AttemptFiles): Promise<Ending> {
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
    // An engine that was killed, or stopped with what it ran, has nothing to explain.
    const isOwnEnd = code !== null && !this.stopped
    const settled = (isOwnEnd && (await this.#explain())) || settledOf(code, signal)
    return settled.kind === 'unstartable' ? { settled } : { settled, process }
  }

  async #succeed(files: AttemptFiles): Promise<Ending> {
    const { text, problem } = await this.#deps.room.readResult(files, this.masker)
    if (problem !== undefined) return { settled: { kind: 'broken', message: problem } }
    return { settled: { kind: 'exited', code: 0 }, result: text }
  }

  /** What the engine knows beyond a code: that nothing ever started, or that memory ran out. */
  async #explain(): Promise<Settled | undefined> {
    const format = '{{.Id}} {{.State.OOMKilled}} {{.State.StartedAt}}'
    const words = ['inspect', '--type', 'container', '--format', format, this.#name]
    const { ok, out } = await ask(this.#deps.engine, words)
    const [id = '', oom, startedAt = NEVER] = out.trim().split(' ')
    if (!ok || startedAt.startsWith(NEVER)) {
      return { kind: 'unstartable', message: unstarted(this.#work, lastLine(this.#words)) }
    }
    const { memory_bytes: most } = this.#limits
    if (oom !== 'true' && (most === undefined || !wasKilledForMemory(id))) return undefined
    const message =
      most === undefined
        ? 'killed because the machine had no memory left'
        : `killed because it needed more memory than its limit of ${formatSize(most)}`
    this.remark(message)
    return { kind: 'failed', cause: 'oom', message }
  }
}

type Ended =
  | { readonly code: number | null; readonly signal: string | null }
  | { readonly message: string }
  | 'lost'

/** The year in which containers began that never did. */
const NEVER = '0001'

const NO_IMAGE =
  /image not known|no such image|manifest unknown|not found in|pull|initializing source/i

function unstarted({ image }: ContainerWork, said: string): string {
  if (NO_IMAGE.test(said)) return `the image ${image} is not here and cannot be fetched: ${said}`
  return `the container could not be started: ${said || 'its engine did not say why'}`
}

function settledOf(code: number | null, signal: string | null): Settled {
  return code === null ? { kind: 'signalled', signal: signal ?? '?' } : { kind: 'exited', code }
}
