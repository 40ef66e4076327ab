import { USER_NAME } from '../../limits.ts'
import { readRule } from '../index.ts'
import { type CommandText, readCommand } from './command-text.ts'
import type { CrontabFormat, CrontabLine } from './read-crontab.ts'
import type { CrontabSettings } from './settings.ts'

/** A crontab line with a schedule and a command. */
export interface CrontabEntry extends CommandText {
  readonly kind: 'entry'
  readonly line: number
  readonly cron: string
  /** The time zone of the schedule. */
  readonly zone: string
  /** The schedule in words. */
  readonly words: string
  readonly user: string | null
  readonly settings: CrontabSettings
  /** The comment in the line above. */
  readonly comment: string | null
}

interface EntryText {
  readonly line: number
  readonly text: string
  readonly settings: CrontabSettings
  readonly comment: string | null
}

const NICKNAME = /^(@\S+)\s*(.*)$/
const FIELDS = /^((?:\S+\s+){4}\S+)\s*(.*)$/
const USER = /^(\S+)\s*(.*)$/
/** cronie's notation for a random value in a range. */
const RANDOM = /^(\d*)~(\d*)$/

export function readEntry(
  { line, text, settings, comment }: EntryText,
  { hasUsers, zone: defaultZone }: CrontabFormat,
): CrontabLine {
  const refused = (message: string, hint: string | null = null) =>
    ({ kind: 'refused', line, text, message, hint }) as const
  // A leading hyphen only stops some crons from logging the command.
  const stated = text.replace(/^-(?=[\d*@])/, '')
  const [, when, afterWhen] = NICKNAME.exec(stated) ?? FIELDS.exec(stated) ?? []
  if (when === undefined || afterWhen === undefined) {
    return refused('it is neither a setting nor five fields and a command')
  }
  if (when.toLowerCase() === '@reboot') {
    const hint = 'Start it from the service manager of its machine.'
    return refused('@reboot is not supported', hint)
  }
  const zone = settings.zone ?? defaultZone
  const cron = when.replaceAll(/\s+/g, ' ')
  const hashed = cron.split(' ').find((field) => RANDOM.test(field))
  if (hashed !== undefined) {
    const [, low, high] = RANDOM.exec(hashed) as RegExpExecArray
    const range = low === '' || high === '' ? 'H' : `H(${low}-${high})`
    return refused(`${hashed} is a matter of chance`, `Write ${range}: somewhere, always the same.`)
  }
  const reading = readRule({ cron, zone, seed: '' })
  if (!reading.ok) {
    const { field, message, hint } = reading.problem
    return refused(field === 'zone' ? `CRON_TZ: ${message}` : message, hint ?? null)
  }
  const [, user, afterUser] = hasUsers ? (USER.exec(afterWhen) ?? []) : [null, null, afterWhen]
  if (user === undefined || afterUser === undefined || afterUser === '') {
    return refused(hasUsers ? 'it has no user, or no command' : 'it has no command')
  }
  if (user !== null && !USER_NAME.test(user)) {
    const hint = 'A crontab of one user has no such column: leave out --system.'
    return refused(`"${user.slice(0, 40)}" is not the name of a user`, hint)
  }
  const command = readCommand(afterUser)
  if (command.run === '') return refused('it has no command')
  const words = reading.rule.describe()
  return { kind: 'entry', line, cron, zone, words, user, settings, comment, ...command }
}
