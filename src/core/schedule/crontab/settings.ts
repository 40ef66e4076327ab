/** What lines above an entry say about it. */
export interface Settings {
  readonly env: Readonly<Record<string, string>>
  readonly shell: string | null
  readonly home: string | null
  readonly zone: string | null
  /** Minutes, as it was written. */
  readonly randomDelay: string | null
}

export const NO_SETTINGS: Settings = {
  ...{ env: {}, shell: null, home: null, zone: null, randomDelay: null },
}

export interface Setting {
  readonly name: string
  readonly value: string
}

const SETTING = /^([A-Za-z_][A-Za-z0-9_]*|"[^"]*"|'[^']*')\s*=\s*(.*)$/
/** These are cron's own business, or not for anybody to set. */
const NOT_PASSED_ON = new Set([
  ...['MAILTO', 'MAILFROM', 'CONTENT_TYPE', 'CONTENT_TRANSFER_ENCODING'],
  ...['LOGNAME', 'USER', 'START_HOURS_RANGE'],
])

/** `NAME = value`, either in quotes; undefined for anything else. Cron expands nothing in it. */
export function readSetting(line: string): Setting | undefined {
  const [, name, value] = SETTING.exec(line) ?? []
  if (name === undefined || value === undefined) return undefined
  return { name: unquoted(name), value: unquoted(value) }
}

export function applySetting(settings: Settings, { name, value }: Setting): Settings {
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
      if (NOT_PASSED_ON.has(name)) return settings
      return { ...settings, env: { ...settings.env, [name]: value } }
  }
}

function unquoted(text: string): string {
  const [, , inner] = /^(["'])(.*)\1$/.exec(text) ?? []
  return inner ?? text
}
