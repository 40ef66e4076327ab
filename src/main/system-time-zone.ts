import { zoneNames } from '../core/schedule/index.ts'

/** The time zone of this machine; UTC if it has no standard name. */
export function systemTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return zoneNames().includes(timeZone) ? timeZone : 'UTC'
}
