import type { Names } from '../expression/check.ts'
import type { Expression } from '../expression/expression.ts'
import { hasExpression } from '../expression/read-template.ts'
import { isShell } from '../expression/shell-names.ts'
import { readShellText, refuseForeignText } from '../expression/shell-text.ts'
import type { HttpInput } from '../work/http-work.ts'
import type { SecretInput } from '../work/secret.ts'
import { readSubmission, type WireSubmission } from '../wire/runs.ts'
import { DEFAULT_SHELL } from '../work/work.ts'
import type { StepInput } from './definition.ts'
import { createHoles, type Holes, refuseExpressions } from './placeholders.ts'
import { secretOfVariable, secretsOfRequest } from './secret-placeholders.ts'
import type { WorkTemplate } from './workflow.ts'

export interface TemplateContext {
  /** Where the step stands, such as `steps.load.`. */
  readonly at: string
  readonly names: Names
  /** What its job says for all steps knows no step. */
  readonly jobNames: Names
  /** Variables that the step sets itself. */
  readonly ownVariables: ReadonlySet<string>
}

type Variables = (readonly [name: string, value: Expression])[]

/** What a step asks for, taken apart into what is known now and what its expressions will say. */
export function readWorkTemplate(step: StepInput, context: TemplateContext): WorkTemplate {
  const { at, names } = context
  const holes = createHoles()
  const variables: Variables = []
  const secrets: SecretInput[] = step.secrets ? [...step.secrets] : []
  const sample: WireSubmission = {
    ...plainFields(step, at),
    ...commandOf(step, context, holes, variables),
    ...containerOf(step, context, holes, variables),
    ...(step.env && { env: environmentOf(step.env, context, holes, secrets) }),
    ...(step.http && { http: requestOf(step.http, context, holes, secrets) }),
    ...(step.with !== undefined && {
      input: holes.value(step.with, { path: ['input'], field: `${at}with`, names }),
    }),
    ...(secrets.length > 0 && { secrets: [...new Set(secrets)] }),
  }
  // What a run of it would trip over is told now, as far as it can be known.
  readSubmission({ ...sample, job: 'step' }, at)
  return { at, sample, holes: holes.found, variables }
}

const PLAIN = [
  ...[
    'task',
    'shell',
    'interpreter',
    'umask',
    'kill_grace',
    'limits',
    'run_as',
    'retry',
    'timeout',
  ],
  ...['queue', 'priority', 'runs_on', 'weight', 'on_lost'],
] as (keyof StepInput & keyof WireSubmission)[]

function plainFields(step: StepInput, at: string): WireSubmission {
  const plain: Record<string, unknown> = {}
  for (const name of PLAIN) {
    const value = step[name]
    if (value === undefined) continue
    refuseExpressions(value, `${at}${name}`)
    plain[name] = value
  }
  return plain
}

function commandOf(
  step: StepInput,
  { at, names }: TemplateContext,
  holes: Holes,
  variables: Variables,
): WireSubmission {
  const { run, script, argv, stdin, cwd, shell = DEFAULT_SHELL } = step
  const shellText = (text: string, words: readonly string[], field: string) =>
    readCommand(text, words, { field, names, variables })
  const text = (value: string, name: string) =>
    holes.text(value, { path: [name], field: at + name, names, lead: '/x' })
  return {
    ...(run !== undefined && { run: shellText(run, [shell], `${at}run`) }),
    ...(script !== undefined && {
      script: shellText(script, [step.interpreter ?? DEFAULT_SHELL].flat(), `${at}script`),
    }),
    ...(argv && { argv: wordsOf(argv, ['argv'], { at, names, holes }) }),
    ...(stdin !== undefined && { stdin: text(stdin, 'stdin') }),
    ...(cwd !== undefined && { cwd: text(cwd, 'cwd') }),
  }
}

function wordsOf(
  words: readonly string[],
  path: readonly string[],
  { at, names, holes }: Pick<TemplateContext, 'at' | 'names'> & { holes: Holes },
): string[] {
  const field = at + path.join('.')
  return words.map((word, nth) =>
    holes.text(word, { path: [...path, nth], field: `${field}.${nth}`, names }),
  )
}

function readCommand(
  text: string,
  words: readonly string[],
  options: { field: string; names: Names; variables: Variables },
): string {
  const { field, names, variables } = options
  if (!hasExpression(text)) return text
  const [first = DEFAULT_SHELL, second] = words
  const program = /(?:^|\/)env$/.test(first) ? (second ?? first) : first
  if (!isShell(program)) throw refuseForeignText(program, field)
  const read = readShellText(text, names, field, program)
  variables.push(...read.variables)
  return read.text
}

/** With a shell as its program, the first argument of a container is read by that shell. */
function containerOf(
  { container }: StepInput,
  { at, names }: TemplateContext,
  holes: Holes,
  variables: Variables,
): WireSubmission {
  if (!container) return {}
  const { image, command, entrypoint, ...rest } = container
  const place = `${at}container.`
  refuseExpressions({ entrypoint, ...rest }, place.slice(0, -1))
  const [program = '', option] = entrypoint ?? []
  const isShellText = isShell(program) && option === '-c' && entrypoint?.length === 2
  const path = ['container', 'command']
  const words = command?.map((word, nth) =>
    nth === 0 && isShellText
      ? readCommand(word, [program], { field: `${place}command.0`, names, variables })
      : holes.text(word, { path: [...path, nth], field: `${place}command.${nth}`, names }),
  )
  const where = { path: ['container', 'image'], field: `${place}image`, names }
  return {
    container: {
      ...rest,
      image: holes.text(image, where),
      ...(entrypoint && { entrypoint }),
      ...(words && { command: words }),
    },
  }
}

function environmentOf(
  env: NonNullable<StepInput['env']>,
  { at, names, jobNames, ownVariables }: TemplateContext,
  holes: Holes,
  secrets: SecretInput[],
) {
  const entries = Object.entries(env).flatMap(([name, text]): [string, string][] => {
    const isOwn = ownVariables.has(name)
    const field = `${isOwn ? at : ''}env.${name}`
    const known = isOwn ? names : jobNames
    const secret = secretOfVariable(name, text, known, field)
    if (secret === undefined) {
      return [[name, holes.text(text, { path: ['env', name], field, names: known })]]
    }
    if (!secrets.includes(secret)) secrets.push(secret)
    return []
  })
  return Object.fromEntries(entries)
}

function requestOf(
  http: HttpInput,
  { at, names }: TemplateContext,
  holes: Holes,
  secrets: SecretInput[],
): HttpInput {
  const place = `${at}http.`
  const { url, headers, body, json, ...rest } = http
  refuseExpressions(rest, place.slice(0, -1))
  const text = (value: string, path: readonly string[]) => {
    const field = at + path.join('.')
    const read = secretsOfRequest(value, names, field)
    for (const name of read.secrets) if (!secrets.includes(name)) secrets.push(name)
    return holes.text(read.text, { path, field, names })
  }
  const address = { path: ['http', 'url'], field: `${place}url`, names, as: 'address' as const }
  const where = { path: ['http', 'json'], field: `${place}json`, names }
  return {
    ...rest,
    url: holes.text(url, { ...address, lead: 'https://x.example' }),
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          text(value, ['http', 'headers', name]),
        ]),
      ),
    }),
    ...(body !== undefined && { body: text(body, ['http', 'body']) }),
    ...(json !== undefined && { json: holes.value(json, where) }),
  }
}
