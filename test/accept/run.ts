// npm run accept -- <name> [id …]: tries the checks of test/accept/<name>.ts, all or the given ones.
import { globSync } from 'node:fs'
import type { Check } from './check.ts'
import { runChecks } from './run-checks.ts'

const OWN_FILES = [
  ...['check.ts', 'commands.ts', 'findings.ts', 'measuring.ts'],
  ...['run.ts', 'run-checks.ts', 'year-ahead.ts', 'large-workflows.ts', '*.test.ts'],
]

const names = globSync('*.ts', { cwd: import.meta.dirname, exclude: OWN_FILES })
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted()
const [name, ...ids] = process.argv.slice(2)

if (name !== undefined && names.includes(name)) {
  const { checks } = (await import(`./${name}.ts`)) as { checks: Check[] }
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
  if (name !== undefined) console.error(`there are no checks called ${name}`)
  console.log(`usage: npm run accept -- <name> [id …]\nnames: ${names.join(', ') || 'none yet'}`)
  process.exitCode = name === undefined ? 0 : 1
}
