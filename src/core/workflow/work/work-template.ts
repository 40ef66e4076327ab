import type { Names } from '../../expression/check.ts'
import type { Expression } from '../../expression/expression.ts'
import { hasExpression } from '../../expression/read-template.ts'
import { hazardOf, programAt } from '../../expression/shell/shell-hazards.ts'
import { isShell } from '../../expression/shell/shell-names.ts'
import {
  readShellText,
  refuseAsProgram,
  refuseForeignText,
  refuseInProgram,
  refuseInVariable,
  refuseWithoutVariables,
  warningsIn,
} from '../../expression/shell/shell-text.ts'
import { fieldWarning, type OnWarning } from '../../expression/shell/shell-warnings.ts'
import { LIMITS } from '../../limits.ts'
import type { HttpInput } from '../../work/http-work.ts'
import type { SecretInput } from '../../secrets/secret.ts'
import { readSubmission, type WireSubmission } from '../../wire/runs.ts'
import { DEFAULT_SHELL } from '../../work/work.ts'
import type { StepInput } from '../definition.ts'
import { createPlaceholders, type Placeholders, refuseExpressions } from './placeholders.ts'
import { secretOfVariable, secretsOfRequest } from './secret-placeholders.ts'
import type { WorkTemplate } from '../workflow.ts'

export interface TemplateContext {
  /** The field prefix of the step, such as `steps.load.`. */
  readonly at: string
  readonly names: Names
  /** The names available in the job's defaults: no steps. */
  readonly jobNames: Names
  /** Variables that the step itself sets. */
  readonly ownVariables: ReadonlySet<string>
  /** Receives uses that may be dangerous; without it they are not checked. */
  readonly onWarning?: OnWarning | undefined
}

type Variables = (readonly [name: string, value: Expression])[]

/** Splits the work of a step into its constant parts and its expressions. */
export function readWorkTemplate(step: StepInput, context: TemplateContext): WorkTemplate {
  const { at, names } = context
  const placeholders = createPlaceholders()
  const variables: Variables = []
  const secrets: SecretInput[] = step.secrets ? [...step.secrets] : []
  const sample: WireSubmission = {
    ...constantFields(step, at),
    ...commandOf(step, context, placeholders, variables),
    ...containerOf(step, context, placeholders, variables),
    ...(step.env && { env: environmentOf(step.env, context, placeholders, secrets) }),
    ...(step.http && { http: requestOf(step.http, context, placeholders, secrets) }),
    ...(step.with !== undefined && {
      input: placeholders.value(step.with, { path: ['input'], field: `${at}with`, names }),
    }),
    ...(secrets.length > 0 && { secrets: [...new Set(secrets)] }),
  }
  if (context.onWarning) warnOfValues(step, at, context.onWarning)
  // Checks the constant parts now, instead of when the step runs.
  readSubmission({ ...sample, job: 'step' }, at)
  return { at, sample, placeholders: placeholders.found, variables }
}

const CONSTANT_FIELDS = [
  'task',
  'shell',
  'interpreter',
  'umask',
  'kill_grace',
  'limits',
  'run_as',
  'retry',
  'timeout',
  'queue',
  'priority',
  'runs_on',
  'weight',
  'on_lost',
] as (keyof StepInput & keyof WireSubmission)[]

function constantFields(step: StepInput, at: string): WireSubmission {
  const fields: Record<string, unknown> = {}
  for (const name of CONSTANT_FIELDS) {
    const value = step[name]
    if (value === undefined) continue
    refuseExpressions(value, `${at}${name}`)
    fields[name] = value
  }
  return fields
}

function commandOf(
  step: StepInput,
  context: TemplateContext,
  placeholders: Placeholders,
  variables: Variables,
): WireSubmission {
  const { at, names } = context
  const { run, script, argv, stdin, cwd, shell = DEFAULT_SHELL } = step
  const shellText = (text: string, words: readonly string[], field: string) =>
    readCommand(text, words, { field, context, variables })
  const text = (value: string, name: string) =>
    placeholders.text(value, { path: [name], field: at + name, names, lead: '/x' })
  return {
    ...(run !== undefined && { run: shellText(run, [shell], `${at}run`) }),
    ...(script !== undefined && {
      script: shellText(script, [step.interpreter ?? DEFAULT_SHELL].flat(), `${at}script`),
    }),
    ...(argv && { argv: wordsOf([], argv, ['argv'], { context, placeholders, variables }) }),
    ...(stdin !== undefined && { stdin: text(stdin, 'stdin') }),
    ...(cwd !== undefined && { cwd: text(cwd, 'cwd') }),
  }
}

interface Reading {
  readonly context: TemplateContext
  readonly variables: Variables
}

/**
 * Reads the words of a command. A word that is shell text is handled as such, because a value would otherwise be
 * inserted into its source. `before` are the preceding words of the command, which cannot contain expressions.
 */
function wordsOf(
  before: readonly string[],
  words: readonly string[],
  path: readonly string[],
  { context, placeholders, variables }: Reading & { placeholders: Placeholders },
): string[] {
  const { at, names, onWarning } = context
  const program = words.some(hasExpression) ? programAt([...before, ...words]) : undefined
  return words.map((word, nth) => {
    if (!hasExpression(word)) return word
    const field = `${at}${path.join('.')}.${nth}`
    const isProgram = program?.at === before.length + nth
    if (isProgram && isShell(program.interpreter)) {
      if (!program.getsVariables) throw refuseWithoutVariables(program.interpreter, field)
      return readCommand(word, [program.interpreter], { field, context, variables })
    }
    const text = placeholders.text(word, { path: [...path, nth], field, names })
    if (isProgram) throw refuseInProgram(program.interpreter, field)
    if (nth === 0 && path[0] === 'argv') throw refuseAsProgram(field)
    const isOfImage = path[0] === 'container' && before.length === 0
    if (isOfImage && isRunByImage(words, nth)) {
      onWarning?.(
        fieldWarning(field, 'the entrypoint of the image may take this for a program', word),
      )
    }
    const why =
      onWarning && hazardOf({ words: [...before, ...words].map(asWord), input: 'constant' })
    if (why) onWarning(fieldWarning(field, `\`${before[0] ?? words[0]}\` ${why}`, word))
    return text
  })
}

/** The entrypoint in the image is unknown: if it is a shell, it executes the word after `-c`. */
function isRunByImage(words: readonly string[], nth: number): boolean {
  if (nth === 0) return true
  return words[0]?.startsWith('-') === true && /^-\w*[ce]$/.test(words[nth - 1] as string)
}

function asWord(text: string) {
  const hasValue = hasExpression(text)
  return { text, hasValue, isLive: hasValue }
}

function readCommand(
  text: string,
  words: readonly string[],
  { field, context, variables }: Reading & { field: string },
): string {
  if (!hasExpression(text)) return text
  const program = shellOf(words)
  if (!isShell(program)) throw refuseForeignText(program, field)
  const read = readShellText(text, context.names, field, program)
  variables.push(...read.variables)
  if (context.onWarning) for (const warning of read.warnings) context.onWarning(warning)
  return read.text
}

function shellOf([first = DEFAULT_SHELL, second]: readonly string[]): string {
  return /(?:^|\/)env$/.test(first) ? (second ?? first) : first
}

/** Warns of values in the input or in variables if the command reads programs. */
function warnOfValues(step: StepInput, at: string, onWarning: OnWarning): void {
  const { run, script, argv, stdin = '', env = {}, shell = DEFAULT_SHELL } = step
  const isFed = hasExpression(stdin)
  const isGiven = isFed || Object.values(env).some(hasExpression)
  const text = run ?? script
  if (isGiven && text !== undefined && !hasExpression(text)) {
    const program = run === undefined ? shellOf([step.interpreter ?? DEFAULT_SHELL].flat()) : shell
    const isShort = text.length <= LIMITS.expressionLength
    const field = `${at}${run === undefined ? 'script' : 'run'}`
    if (isShell(program) && isShort) warningsIn(text, field, program).forEach(onWarning)
  }
  const why = isFed && argv && hazardOf({ words: argv.map(asWord), input: 'live' })
  if (why) onWarning(fieldWarning(`${at}stdin`, `\`${argv[0]}\` ${why}`, stdin))
  for (const [name, value] of Object.entries(env)) {
    if (!hasExpression(value) || !LOADERS.test(name)) continue
    onWarning(fieldWarning(`${at}env.${name}`, `${name} decides what programs load or run`, value))
  }
}

/** Variables that make programs load code or run other programs. */
const LOADERS =
  /^(?:PATH|LD_\w+|SHELL|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|STARTUP|HOME)|PERL5(?:OPT|LIB)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|MAKEFLAGS|GIT_\w+|EDITOR|VISUAL|PAGER)$/

/** Variables that shells execute, or evaluate as arithmetic, when they start. */
const READ_BY_SHELLS =
  /^(?:BASH_ENV|ENV|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|HISTCMD|BASHPID|EPOCHSECONDS)$/

/** If the entrypoint of a container is a shell, that shell reads its argument. */
function containerOf(
  { container }: StepInput,
  context: TemplateContext,
  placeholders: Placeholders,
  variables: Variables,
): WireSubmission {
  if (!container) return {}
  const { at, names } = context
  const { image, command, entrypoint, ...rest } = container
  const place = `${at}container.`
  refuseExpressions({ entrypoint, ...rest }, place.slice(0, -1))
  const path = ['container', 'command']
  const words =
    command && wordsOf(entrypoint ?? [], command, path, { context, placeholders, variables })
  const where = { path: ['container', 'image'], field: `${place}image`, names }
  return {
    container: {
      ...rest,
      image: placeholders.text(image, where),
      ...(entrypoint && { entrypoint }),
      ...(words && { command: words }),
    },
  }
}

function environmentOf(
  env: NonNullable<StepInput['env']>,
  { at, names, jobNames, ownVariables }: TemplateContext,
  placeholders: Placeholders,
  secrets: SecretInput[],
) {
  const entries = Object.entries(env).flatMap(([name, text]): [string, string][] => {
    const isOwn = ownVariables.has(name)
    const field = `${isOwn ? at : ''}env.${name}`
    const known = isOwn ? names : jobNames
    const secret = secretOfVariable(name, text, known, field)
    if (secret === undefined) {
      if (hasExpression(text) && READ_BY_SHELLS.test(name)) throw refuseInVariable(name, field)
      return [[name, placeholders.text(text, { path: ['env', name], field, names: known })]]
    }
    if (!secrets.includes(secret)) secrets.push(secret)
    return []
  })
  return Object.fromEntries(entries)
}

function requestOf(
  http: HttpInput,
  { at, names }: TemplateContext,
  placeholders: Placeholders,
  secrets: SecretInput[],
): HttpInput {
  const place = `${at}http.`
  const { url, headers, body, json, ...rest } = http
  refuseExpressions(rest, place.slice(0, -1))
  const text = (value: string, path: readonly string[]) => {
    const field = at + path.join('.')
    const read = secretsOfRequest(value, names, field)
    for (const name of read.secrets) if (!secrets.includes(name)) secrets.push(name)
    return placeholders.text(read.text, { path, field, names })
  }
  const address = { path: ['http', 'url'], field: `${place}url`, names, as: 'address' as const }
  const where = { path: ['http', 'json'], field: `${place}json`, names }
  return {
    ...rest,
    url: placeholders.text(url, { ...address, lead: 'https://x.example' }),
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          text(value, ['http', 'headers', name]),
        ]),
      ),
    }),
    ...(body !== undefined && { body: text(body, ['http', 'body']) }),
    ...(json !== undefined && { json: placeholders.value(json, where) }),
  }
}
