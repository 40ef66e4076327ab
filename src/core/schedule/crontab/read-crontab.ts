import { readEntry, type CrontabEntry } from './entry.ts'
import {
  applySetting,
  type CrontabSettings,
  isRandomDelay,
  NO_CRONTAB_SETTINGS,
  readSetting,
} from './settings.ts'

/** The result of reading one line of a crontab. Lines are counted from 1; empty lines and comments have no result. */
export type CrontabLine =
  | CrontabEntry
  | {
      readonly kind: 'setting'
      readonly line: number
      readonly name: string
      readonly value: string
      /** What the setting means for the imported jobs. */
      readonly note: string
    }
  | {
      readonly kind: 'refused'
      readonly line: number
      readonly text: string
      readonly message: string
      readonly hint: string | null
    }

export interface CrontabFormat {
  /** The sixth field is a user, as in `/etc/crontab` and `/etc/cron.d`. */
  readonly hasUsers: boolean
  /** The default time zone, for lines without their own. */
  readonly zone: string
}

/** Reads a crontab from the top as cron does: settings apply to the lines below them. */
export function readCrontab(text: string, format: CrontabFormat): CrontabLine[] {
  const lines: CrontabLine[] = []
  let settings: CrontabSettings = NO_CRONTAB_SETTINGS
  let comment: string | null = null
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = index + 1
    const trimmed = raw.trim()
    if (trimmed === '' || trimmed.startsWith('#')) {
      comment = trimmed === '' ? null : readComment(trimmed)
      continue
    }
    const setting = readSetting(trimmed)
    if (setting) {
      lines.push({ kind: 'setting', line, ...setting, note: noteOf(setting.name, setting.value) })
      settings = applySetting(settings, setting)
      continue
    }
    lines.push(readEntry({ line, text: trimmed, settings, comment }, format))
    comment = null
  }
  return lines
}

/** The comment above an entry becomes its description; a commented-out entry does not. */
function readComment(line: string): string | null {
  const text = line.replace(/^[#\s]+/, '').trim()
  return text === '' || /^(?:[\d*@]|-[\d*])/.test(text) ? null : text
}

function noteOf(name: string, value: string): string {
  switch (name) {
    case 'MAILTO':
      if (value === '')
        return 'no mail was sent; the output of runs is kept and shown by punctual logs'
      return 'no mail is sent: the output of runs is kept, and punctual webhook add reports failures'
    case 'MAILFROM':
    case 'CONTENT_TYPE':
    case 'CONTENT_TRANSFER_ENCODING':
      return 'no mail is sent'
    case 'SHELL':
      return 'the shell of the lines below'
    case 'HOME':
      return 'the directory the lines below start in'
    case 'CRON_TZ':
      return 'the clocks the lines below go by'
    case 'RANDOM_DELAY':
      return isRandomDelay(value)
        ? `the lines below fire up to ${value} minutes later`
        : 'it is not a number of minutes, so nothing is delayed'
    case 'LOGNAME':
    case 'USER':
      return 'cron does not let this be set, and neither is it here'
    case 'START_HOURS_RANGE':
      return 'only anacron goes by it'
    default:
      return 'in the environment of the lines below'
  }
}
