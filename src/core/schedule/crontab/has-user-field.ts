import { USER_NAME } from '../../limits.ts'

const ENTRY = /^-?(?:@\S+|[\d*@]\S*\s+(?:\S+\s+){3}\S+)\s+(\S+)\s+\S/
const SETTING = /^\s*["']?[A-Za-z_]\w*["']?\s*=/
/** The header comment of `/etc/crontab` as distributions ship it. */
const TITLE = /^\s*#.*\buser(?:-?name)?\b.*\bcommand\b/im

/**
 * Whether this is a system crontab, in which every entry names a user before its command. User names are also names
 * of programs (`mail`, `backup`), so a name alone is not enough. Either one of the users is `root`, or the file has
 * the header of system crontabs and all names are users of this machine.
 */
export function hasUserField(text: string, users: ReadonlySet<string>): boolean {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const entries = lines.filter(
    (line) => line !== '' && !line.startsWith('#') && !SETTING.test(line),
  )
  const named = entries.map((line) => ENTRY.exec(line)?.[1] ?? '')
  if (named.length === 0 || !named.every((name) => USER_NAME.test(name))) return false
  return named.includes('root') || (TITLE.test(text) && named.every((name) => users.has(name)))
}
