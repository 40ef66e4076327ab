// npm run accept -- <name> [id …]: runs the checks of test/accept/<name>.ts, all or the given ones.
import { globSync } from 'node:fs'
import type { Check } from './check.ts'
import { runChecks } from './run-checks.ts'

const OWN_FILES = [
  'check.ts',
  'commands.ts',
  'findings.ts',
  'measuring.ts',
  'run.ts',
  'run-checks.ts',
  'year-ahead.ts',
  'large-workflows.ts',
  'security-*.ts',
  '*.test.ts',
]

/** Earlier names of checks, which still work. */
const ALIASES: Readonly<Record<string, string>> = { heart: 'engine', doors: 'interfaces' }
const currentName = (name: string) => ALIASES[name] ?? name

const files = new Map(
  globSync('*.ts', { cwd: import.meta.dirname, exclude: OWN_FILES })
    .toSorted()
    .map((file) => [currentName(file.replace(/\.ts$/, '')), file]),
)
const [asked, ...ids] = process.argv.slice(2)
const name = asked && currentName(asked)
const file = name && files.get(name)

if (file) {
  const { checks } = (await import(`./${file}`)) as { checks: Check[] }
  const unknown = ids.filter((id) => !checks.some((check) => check.id === id))
  if (unknown.length > 0) {
    console.error(
      `no check ${unknown.join(', ')} in ${name}: ${checks.map(({ id }) => id).join(', ')}`,
    )
  }
  const chosen = checks.filter(({ id }) => ids.length === 0 || ids.includes(id))
  const succeeded = await runChecks(chosen, (line) => console.log(line))
  process.exitCode = succeeded && unknown.length === 0 ? 0 : 1
} else {
  if (name !== undefined) console.error(`there are no checks called ${asked}`)
  console.log(
    `usage: npm run accept -- <name> [id …]\nnames: ${[...files.keys()].toSorted().join(', ') || 'none yet'}`,
  )
  process.exitCode = name === undefined ? 0 : 1
}
