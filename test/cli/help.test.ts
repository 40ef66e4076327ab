import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCli } from '../../src/cli/commands/cli.ts'
import { commandsOf } from '../../src/cli/examples.ts'
import { createProgram, runProgram } from '../../src/cli/program.ts'
import { addServerCommands } from '../../src/main/server-commands.ts'
import { createFakeTerminal } from './fake-terminal.ts'

const version = '9.9.9'

function commandLine() {
  const terminal = createFakeTerminal({ env: {}, columns: 80 })
  const cli = createCli(terminal, [])
  const program = createProgram(cli, {
    terminal,
    version,
    addServerCommands: (under) => addServerCommands(under, cli, version),
  })
  return commandsOf(program)
}

async function punctual(...argv: string[]) {
  const terminal = createFakeTerminal({ env: {}, columns: 80 })
  const code = await runProgram(argv, { terminal, version, addServerCommands: () => {} })
  return { code, ...terminal.written }
}

test('the help of every command shows the global flags and examples', () => {
  for (const { path, command } of commandLine()) {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) })
    command.outputHelp()
    for (const flag of ['--server <url>', '--project <name>', '-o, --output <format>']) {
      assert.ok(help.includes(flag), `${path} --help shows ${flag}`)
    }
    assert.match(help, /^Examples:\n {2}\S/m, `${path} --help has an example`)
    assert.doesNotMatch(help, /--version/, path)
  }
})

test('examples use commands and flags that exist', () => {
  const commands = commandLine()
  for (const { path, command } of commands) {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) })
    command.outputHelp()
    const [, examples = ''] = help.split('\nExamples:\n')
    for (const line of examples.trimEnd().split('\n')) {
      assert.match(
        line,
        /(?:^ {2}|[(|] ?)punctual \S/,
        `${path} has a whole command as its example`,
      )
    }
    for (const [, line = ''] of examples.matchAll(/punctual (?!-)([^|>)\n]*)/g)) {
      const ours = line.split(' -- ')[0] ?? ''
      const named = commands.filter((one) => `${ours} `.startsWith(`${one.path} `))
      const called = named.toSorted((a, b) => b.path.length - a.path.length)[0]
      assert.ok(called, `${line}, an example of ${path}, names a command`)
      const flags = [...called.command.options, ...(called.command.parent?.options ?? [])]
      for (const [, flag] of ours.replaceAll(/'[^']*'/g, '').matchAll(/\s(--?[a-z][a-z-]*)/g)) {
        const isKnown = flags.some(({ long, short }) => flag === long || flag === short)
        assert.ok(isKnown || flag === '--date', `${line}: ${path} has ${flag}`)
      }
    }
  }
})

for (const argv of [
  ['nosuch', '--help'],
  ['nosuch', '-h'],
  ['help', 'nosuch'],
  ['token', 'nosuch', '--help'],
  ['-o', 'table', 'nosuch', '--help'],
]) {
  test(`punctual ${argv.join(' ')} says that the command does not exist`, async () => {
    const { code, out, err } = await punctual(...argv)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /^✖ unknown command 'nosuch'\n {2}help: /)
  })
}

test('help for existing commands is still shown, and a typing mistake gets a suggestion', async () => {
  for (const argv of [
    ['--help'],
    ['help'],
    ['help', 'logs'],
    ['token', '--help'],
    ['logs', '-h'],
  ]) {
    const { code, out } = await punctual(...argv)
    assert.deepEqual([code, out.startsWith('Usage: punctual')], [0, true], argv.join(' '))
  }
  assert.match((await punctual('lgos', '--help')).err, /help: {2}Did you mean logs\?/)
})
