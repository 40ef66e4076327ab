import { posix } from 'node:path'
import { isTestCode } from './source-tree.ts'

/** Folders made of a port, its contract and one folder per adapter. */
const PORT_AREAS = ['store', 'queue', 'blobs', 'election', 'events', 'intake']

/** Areas that each area may import besides itself; `ports` stands for the `port.ts` of any port area. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  // Requests to addresses that users choose, checked in one place for all callers.
  outbound: ['core'],
  server: ['core', 'ports', 'outbound'],
  worker: ['core', 'ports', 'outbound'],
  client: ['core'],
  cli: ['core', 'client'],
  dashboard: ['core', 'client'],
  // The package entry point exports what users write code against.
  index: ['core', 'client', 'worker'],
  ...Object.fromEntries(PORT_AREAS.map((area) => [area, ['core']])),
}

/** Deterministic and without I/O, so allowed in core. */
const PURE_BUILTINS = ['node:assert', 'node:buffer', 'node:crypto', 'node:util']

/**
 * Why the file at `from` may not import `specifier`, or undefined if it may. Paths are relative to the
 * repository. Tests may import anything, except that tests of core stay as pure as core and a contract may not
 * import an adapter.
 */
export function importViolation(from: string, specifier: string): string | undefined {
  if (!from.startsWith('src/')) return undefined
  const source = within(from)
  if (!specifier.startsWith('.')) return builtinViolation(from, source, specifier)
  const target = posix.join(posix.dirname(from), specifier)
  if (isTestCode(target) && !isTestCode(from)) {
    return refuse(from, target, 'production code never leans on test code')
  }
  if (!target.startsWith('src/')) return undefined
  return targetViolation(from, source, target)
}

function targetViolation(from: string, source: ModulePlace, target: string): string | undefined {
  const aim = within(target)
  if (aim.area === 'main' && source.area !== 'main') {
    return refuse(from, target, 'main wires everything, so nothing may depend on it')
  }
  if (source.area === 'main') return undefined
  if (source.area === aim.area) return insideAreaViolation(from, source, target, aim)
  if (isTestCode(from) && source.area !== 'core' && !source.isContract) return undefined
  const allowed = MAY_IMPORT[source.area]
  if (!allowed)
    return `\`${from}\` is in no known area; add \`${source.area}\` to test/tidy/import-direction.ts`
  if (allowed.includes(aim.area)) return undefined
  if (!PORT_AREAS.includes(aim.area)) {
    return refuse(from, target, `${source.area} imports ${list(source.area, allowed)}`)
  }
  // An adapter may use another port: blobs as rows of the store.
  if (!allowed.includes('ports') && !source.isAdapter) {
    return refuse(from, target, `${source.area} imports ${list(source.area, allowed)}`)
  }
  return aim.isPort
    ? undefined
    : refuse(from, `src/${aim.folder}`, `ask for it through \`${aim.area}/port\``)
}

/** Within a port area, adapters do not import each other and the contract does not import adapters. */
function insideAreaViolation(
  from: string,
  source: ModulePlace,
  target: string,
  aim: ModulePlace,
): string | undefined {
  if (!PORT_AREAS.includes(source.area) || !aim.isAdapter) return undefined
  if (source.isPort || source.isContract) {
    return refuse(from, target, 'a port and its contract know no adapter')
  }
  if (source.isAdapter && source.folder !== aim.folder) {
    return refuse(
      from,
      target,
      'adapters do not know each other; share it through the port or core',
    )
  }
  return undefined
}

function builtinViolation(
  from: string,
  source: ModulePlace,
  specifier: string,
): string | undefined {
  if (source.area !== 'core' || isTestCode(from) || !specifier.startsWith('node:')) return undefined
  const isPure = PURE_BUILTINS.some(
    (name) => specifier === name || specifier.startsWith(`${name}/`),
  )
  if (isPure) return undefined
  return `\`${short(from)}\` may not import \`${specifier}\`; core does no I/O, so let the caller pass it in`
}

interface ModulePlace {
  area: string
  /** Area and, for a file in a subfolder, that subfolder: `store/sqlite`. */
  folder: string
  isPort: boolean
  isContract: boolean
  isAdapter: boolean
}

function within(path: string): ModulePlace {
  const parts = short(path).split('/')
  const area = parts.length === 1 ? parts[0]!.replace(/\.tsx?$/, '') : parts[0]!
  const second = parts[1] ?? ''
  const isPort = /^port(\.ts)?$/.test(second)
  const isContract = /^contract(\.ts)?$/.test(second)
  const isAdapter = PORT_AREAS.includes(area) && parts.length > 2 && !isPort && !isContract
  return {
    area,
    folder: parts.length > 2 ? `${area}/${second}` : area,
    isPort,
    isContract,
    isAdapter,
  }
}

function refuse(from: string, target: string, reason: string): string {
  return `\`${short(from)}\` may not import \`${short(target).replace(/\.tsx?$/, '')}\`; ${reason}`
}

function list(area: string, allowed: readonly string[]): string {
  return allowed.length > 0 ? `only itself, ${allowed.join(' and ')}` : `nothing but ${area}`
}

function short(path: string): string {
  return path.replace(/^src\//, '')
}
