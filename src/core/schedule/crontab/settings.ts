/** The settings in effect for an entry, from the lines above it. */
export interface CrontabSettings {
  readonly env: Readonly<Record<string, string>>
  readonly shell: string | null
  readonly home: string | null
  readonly zone: string | null
  /** Minutes, as written. */
  readonly randomDelay: string | null
}

export const NO_CRONTAB_SETTINGS: CrontabSettings = {
  env: {},
  shell: null,
  home: null,
  zone: null,
  randomDelay: null,
}

export interface CrontabSetting {
  readonly name: string
  readonly value: string
}

const SETTING = /^([A-Za-z_][A-Za-z0-9_]*|"[^"]*"|'[^']*')\s*=\s*(.*)$/
/** Settings that only cron uses, or that jobs must not set. */
const IGNORED_SETTINGS = new Set([
  'MAILTO',
  'MAILFROM',
  'CONTENT_TYPE',
  'CONTENT_TRANSFER_ENCODING',
  'LOGNAME',
  'USER',
  'START_HOURS_RANGE',
])

/**
 * Reads `NAME = value`, either part optionally quoted; undefined for any other line. Cron expands nothing in the
 * value.
 */
export function readSetting(line: string): CrontabSetting | undefined {
  const [, name, value] = SETTING.exec(line) ?? []
  if (name === undefined || value === undefined) return undefined
  return { name: unquoted(name), value: unquoted(value) }
}

export function applySetting(
  settings: CrontabSettings,
  { name, value }: CrontabSetting,
): CrontabSettings {
  switch (name) {
    case 'SHELL':
      return { ...settings, shell: value }
    case 'HOME':
      return { ...settings, home: value, env: { ...settings.env, HOME: value } }
    case 'CRON_TZ':
      return { ...settings, zone: value }
    case 'RANDOM_DELAY':
      return { ...settings, randomDelay: value }
    default:
      if (IGNORED_SETTINGS.has(name)) return settings
      return { ...settings, env: { ...settings.env, [name]: value } }
  }
}

/** Whether cron reads the value of `RANDOM_DELAY` as a number of minutes above zero. */
export function isRandomDelay(value: string): boolean {
  return /^[1-9]\d{0,3}$/.test(value)
}

function unquoted(text: string): string {
  const [, , inner] = /^(["'])(.*)\1$/.exec(text) ?? []
  return inner ?? text
}
