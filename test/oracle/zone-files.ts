import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readTzif, type Clocks } from './tzif.ts'

export const ZONE_FILES = '/usr/share/zoneinfo'
/** Duplicates of the zones, also with leap seconds, and names that are not places. */
const ASIDE = new Set(['posix', 'right', 'posixrules', 'localtime', 'Factory'])
const LAST_SECOND = Date.UTC(2038, 0, 1) / 1_000
/** Less than the time between two changes of any zone. */
const PROBE_SECONDS = 6 * 86_400

/** For `skip`: false where the system has its zones. */
export const skipWithoutZoneFiles: string | false =
  !existsSync(join(ZONE_FILES, 'Europe/Athens')) &&
  'needs /usr/share/zoneinfo (Debian: apt install tzdata)'

export interface SystemZones {
  readonly clocks: ReadonlyMap<string, Clocks>
  /** Zones whose data differs between the system and the runtime; they are not used. */
  readonly different: readonly string[]
  readonly systemVersion: string
  readonly runtimeVersion: string
}

/** Reads the system's zones and sets aside those on which the runtime disagrees. */
export function readSystemZones(): SystemZones {
  const clocks = new Map<string, Clocks>()
  const different: string[] = []
  const judged = new Map<string, boolean>()
  for (const name of zoneFileNames()) {
    const file = readFileSync(join(ZONE_FILES, name))
    const zone = readTzif(file)
    const format = formatFor(name)
    if (!format) continue
    const key = `${format.resolvedOptions().timeZone} ${file.toString('base64')}`
    const agrees = judged.get(key) ?? agree(zone, format)
    judged.set(key, agrees)
    if (agrees) clocks.set(name, zone)
    else different.push(name)
  }
  return {
    clocks,
    different,
    systemVersion: systemVersion(),
    runtimeVersion: process.versions['tz'] ?? 'unknown',
  }
}

export function describeZones(zones: SystemZones): string {
  const { clocks, different, systemVersion, runtimeVersion } = zones
  const left = different.length === 0 ? 'none differ' : `left out: ${different.join(', ')}`
  return (
    `tzdata ${systemVersion} of the system, ${runtimeVersion} of the runtime; ` +
    `${clocks.size} zones; ${left}`
  )
}

function zoneFileNames(folder = ''): string[] {
  return readdirSync(join(ZONE_FILES, folder))
    .filter((name) => !ASIDE.has(name))
    .flatMap((name) => {
      const path = folder === '' ? name : `${folder}/${name}`
      if (statSync(join(ZONE_FILES, path)).isDirectory()) return zoneFileNames(path)
      const isZone = readFileSync(join(ZONE_FILES, path)).toString('latin1', 0, 4) === 'TZif'
      return isZone ? [path] : []
    })
}

function systemVersion(): string {
  const source = join(ZONE_FILES, 'tzdata.zi')
  if (!existsSync(source)) return 'unknown'
  return /^# version (\S+)/.exec(readFileSync(source, 'utf8'))?.[1] ?? 'unknown'
}

function formatFor(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' })
  } catch {
    return undefined
  }
}

/** Whether system and runtime show the same time from 1970 to 2037: every few days, and at changes. */
function agree(zone: Clocks, format: Intl.DateTimeFormat): boolean {
  const probes = zone.changes(0, LAST_SECOND).flatMap((change) => [change - 1, change])
  for (let second = 0; second < LAST_SECOND; second += PROBE_SECONDS) probes.push(second)
  return probes.every((second) => zone.offsetAt(second) === runtimeOffset(format, second))
}

function runtimeOffset(format: Intl.DateTimeFormat, second: number): number {
  const shown = format.format(second * 1_000).split('GMT')[1]!
  const [hours = 0, minutes = 0, seconds = 0] = shown.slice(1).split(':').map(Number)
  const size = hours * 3_600 + minutes * 60 + seconds
  return shown.startsWith('-') ? -size : size
}
