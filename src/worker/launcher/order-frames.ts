import { type FrameContent, FrameWriter } from './frames.ts'
import type { Limits, LauncherOrder, SecretFiles, StartOrder, User } from './messages.ts'

const KIND = { start: 1, stop: 2, pause: 3, resume: 4 } as const
const NAMES = ['start', 'stop', 'pause', 'resume'] as const
const NONE = -1

const writer = new FrameWriter()

export function orderFrame(order: LauncherOrder): Buffer {
  if (order.order === 'start') return startFrame(order)
  writer.begin(KIND[order.order]).u32(order.child)
  if (order.order === 'stop') writer.f64(Math.max(0, order.graceMs))
  return writer.end()
}

function startFrame(order: StartOrder): Buffer {
  const { user, limits = {}, stdin } = order
  writer
    .begin(KIND.start)
    .u32(order.child)
    .i32(order.umask ?? NONE)
    .f64(order.timeoutMs ?? NONE)
    .f64(Math.max(0, order.graceMs ?? 0))
    .f64(limits.memoryBytes ?? 0)
    .f64(limits.cpu ?? 0)
    .u32(limits.pids ?? 0)
    .u32(limits.files ?? 0)
    .u8(user ? 1 : 0)
  if (user) {
    writer.u32(user.uid).u32(user.gid).u32(user.groups.length)
    for (const group of user.groups) writer.u32(group)
  }
  writer
    .text(order.file)
    .text(order.cwd ?? '')
    .u8(stdin === undefined ? 0 : 1)
  if (stdin !== undefined) writer.blob(stdin)
  writer.texts(order.args).u32(Object.keys(order.env).length)
  for (const name in order.env) writer.text(`${name}=${order.env[name]}`)
  const { directory = '', files = [] } = order.secretFiles ?? {}
  writer.text(directory).u32(files.length)
  for (const { name, mode, content } of files) writer.text(name).u32(mode).blob(content)
  return writer.end()
}

export function readOrder(kind: number, content: FrameContent): LauncherOrder {
  const order = NAMES[kind - 1]
  if (!order) throw new Error(`unknown order kind ${kind}`)
  if (order === 'start') return readStart(content)
  const child = content.u32()
  return order === 'stop' ? { order, child, graceMs: content.f64() } : { order, child }
}

function readStart(content: FrameContent): StartOrder {
  const child = content.u32()
  const umask = content.i32()
  const timeoutMs = content.f64()
  return {
    order: 'start',
    child,
    umask: umask === NONE ? undefined : umask,
    timeoutMs: timeoutMs === NONE ? undefined : timeoutMs,
    graceMs: content.f64(),
    limits: readLimits(content),
    user: readUser(content),
    file: content.text(),
    cwd: content.text() || undefined,
    stdin: content.u8() === 1 ? content.blob() : undefined,
    args: content.texts(),
    env: readEnvironment(content),
    secretFiles: readSecretFiles(content),
  }
}

function readLimits(content: FrameContent): Limits {
  return {
    memoryBytes: content.f64() || undefined,
    cpu: content.f64() || undefined,
    pids: content.u32() || undefined,
    files: content.u32() || undefined,
  }
}

function readUser(content: FrameContent): User | undefined {
  if (content.u8() === 0) return undefined
  const [uid, gid] = [content.u32(), content.u32()]
  return { uid, gid, groups: Array.from({ length: content.u32() }, () => content.u32()) }
}

function readSecretFiles(content: FrameContent): SecretFiles | undefined {
  const directory = content.text()
  const files = Array.from({ length: content.u32() }, () => ({
    name: content.text(),
    mode: content.u32(),
    content: content.blob(),
  }))
  return files.length === 0 ? undefined : { directory, files }
}

function readEnvironment(content: FrameContent): Record<string, string> {
  const environment: Record<string, string> = Object.create(null) as Record<string, string>
  for (const pair of content.texts()) {
    const at = pair.indexOf('=')
    environment[pair.slice(0, at)] = pair.slice(at + 1)
  }
  return environment
}
