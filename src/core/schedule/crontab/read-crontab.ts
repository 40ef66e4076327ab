import { readEntry, type CrontabEntry } from './entry.ts'
import { applySetting, NO_SETTINGS, readSetting, type Settings } from './settings.ts'

/** What becomes of a line of a crontab. Lines are counted from 1; empty ones and remarks are not told. */
export type CrontabLine =
  | CrontabEntry
  | {
      readonly kind: 'setting'
      readonly line: number
      readonly name: string
      readonly value: string
      /** What it comes to here. */
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
  /** On whose clocks it is read, unless it says so itself. */
  readonly zone: string
}

/** Reads a crontab as cron would, from the top: settings are for the lines below them. */
export function readCrontab(text: string, format: CrontabFormat): CrontabLine[] {
  const lines: CrontabLine[] = []
  let settings: Settings = NO_SETTINGS
  let remark: string | null = null
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = index + 1
    const trimmed = raw.trim()
    if (trimmed === '' || trimmed.startsWith('#')) {
      remark = trimmed === '' ? null : readRemark(trimmed)
      continue
    }
    const setting = readSetting(trimmed)
    if (setting) {
      lines.push({ kind: 'setting', line, ...setting, note: noteOf(setting.name, setting.value) })
      settings = applySetting(settings, setting)
      continue
    }
    lines.push(readEntry({ line, text: trimmed, settings, remark }, format))
    remark = null
  }
  return lines
}

/** What people wrote above a line is what they would say of it; a line that is switched off is not. */
function readRemark(line: string): string | null {
  const said = line.replace(/^[#\s]+/, '').trim()
  return said === '' || /^(?:[\d*@]|-[\d*])/.test(said) ? null : said
}

function noteOf(name: string, value: string): string {
  switch (name) {
    case 'MAILTO':
      if (value === '')
        return 'nobody was mailed; what runs print is kept and shown by punctual logs'
      return 'no mail is sent: what runs print is kept, and punctual webhook add tells of failures'
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
      return 'the lines below fire up to so many minutes later'
    case 'LOGNAME':
    case 'USER':
      return 'cron does not let this be set, and neither is it here'
    case 'START_HOURS_RANGE':
      return 'only anacron goes by it'
    default:
      return 'in the environment of the lines below'
  }
}
