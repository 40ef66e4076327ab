import { zoneNames } from '../core/schedule/index.ts'

/** The zone this machine keeps its clocks by; UTC if it has none that others know, too. */
export function zoneOfMachine(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return zoneNames().includes(timeZone) ? timeZone : 'UTC'
}
