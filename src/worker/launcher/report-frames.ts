import { constants } from 'node:os'
import { type FrameContent, FrameWriter, type PassedOn } from './frames.ts'
import type {
  Abilities,
  Containment,
  EndDetails,
  Limit,
  ProcessOutput,
  LauncherReport,
} from './messages.ts'

const KIND = { ready: 16, unstartable: 17, ended: 18, output: 19, refused: 20 } as const
const LEVELS: readonly Containment[] = ['group', 'cgroup', 'pidns']
const LIMITS: readonly Limit[] = ['memory', 'cpu', 'pids', 'files']
const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))
const FLAGS = ['oom', 'timedOut', 'leaseExpired'] as const
const NONE = -1

/** The fields before the bytes of an output report: child, stream and time. */
export const OUTPUT_FRAMES: PassedOn = { kind: KIND.output, fieldBytes: 4 + 1 + 8 }

const writer = new FrameWriter()

export function reportFrame(report: LauncherReport): Buffer {
  switch (report.report) {
    case 'ready':
      return readyFrame(report.abilities)
    case 'refused':
      return writer.begin(KIND.refused).text(report.message).end()
    case 'unstartable':
      return writer.begin(KIND.unstartable).u32(report.child).text(report.message).end()
    case 'output': {
      const { child, stream, ms, bytes } = report
      return writer.begin(KIND.output).u32(child).u8(stream).f64(ms).bytes(bytes).end()
    }
    case 'ended': {
      const { child, code, signal, details } = report
      const number = constants.signals[signal as NodeJS.Signals] ?? 0
      return writer
        .begin(KIND.ended)
        .u32(child)
        .i32(code ?? NONE)
        .i32(signal === null ? 0 : number)
        .u8(LEVELS.indexOf(details.containment))
        .u8(FLAGS.reduce((bits, flag, index) => bits | (details[flag] ? 1 << index : 0), 0))
        .u32(details.pidsRefused ?? 0)
        .end()
    }
  }
}

const CAN = ['canSwitchUser', 'holdsLock', 'hidesFiles'] as const

function readyFrame({ containment, limits, why, ...abilities }: Abilities): Buffer {
  const bits = limits.reduce((sum, limit) => sum | (1 << LIMITS.indexOf(limit)), 0)
  return writer
    .begin(KIND.ready)
    .u8(LEVELS.indexOf(containment))
    .u8(bits)
    .u8(CAN.reduce((sum, name, index) => sum | (abilities[name] ? 1 << index : 0), 0))
    .text(why)
    .end()
}

/** `launcher` is the kind of launcher that sent the report, which the frame does not contain. */
export function readReport(
  kind: number,
  content: FrameContent,
  launcher: Abilities['kind'],
): LauncherReport {
  switch (kind) {
    case KIND.ready:
      return { report: 'ready', abilities: readAbilities(content, launcher) }
    case KIND.refused:
      return { report: 'refused', message: content.text() }
    case KIND.unstartable:
      return { report: 'unstartable', child: content.u32(), message: content.text() }
    case KIND.output:
      return { report: 'output', ...readOutput(content) }
    case KIND.ended: {
      const [child, code, signal] = [content.u32(), content.i32(), content.i32()]
      return {
        report: 'ended',
        child,
        code: code === NONE ? null : code,
        signal: signal === 0 ? null : (SIGNALS.get(signal) ?? `SIG${signal}`),
        details: readDetails(content),
      }
    }
    default:
      throw new Error(`unknown report kind ${kind}`)
  }
}

function readAbilities(content: FrameContent, kind: Abilities['kind']): Abilities {
  const containment = LEVELS[content.u8()] ?? 'group'
  const bits = content.u8()
  const limits = LIMITS.filter((_, index) => bits & (1 << index))
  const flags = content.u8()
  const [canSwitchUser, holdsLock, hidesFiles] = [flags & 1, flags & 2, flags & 4].map(Boolean)
  const can = { canSwitchUser, holdsLock, hidesFiles } as Pick<Abilities, (typeof CAN)[number]>
  return { kind, containment, limits, ...can, why: content.text() }
}

function readOutput(content: FrameContent): ProcessOutput {
  const [child, stream, ms] = [content.u32(), content.u8() as 1 | 2, content.f64()]
  return { child, stream, ms, bytes: content.rest() }
}

function readDetails(content: FrameContent): EndDetails {
  const containment = LEVELS[content.u8()] ?? 'group'
  const flags = content.u8()
  const pidsRefused = content.u32()
  return {
    containment,
    ...Object.fromEntries(
      FLAGS.filter((_, index) => flags & (1 << index)).map((flag) => [flag, true]),
    ),
    ...(pidsRefused > 0 ? { pidsRefused } : {}),
  }
}
