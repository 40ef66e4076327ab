import type { JobDefinition } from '../job/job-definition.ts'
import { METHODS } from '../work/web-request.ts'
import { DEFAULT_SHELL } from '../work/work.ts'

/** The job of a file, in the fields of the API. */
export interface Expanded {
  readonly definition: JobDefinition
  /** Maps API fields to the fields of the file where the names differ, longest first. */
  readonly origins: readonly (readonly [field: string, inFile: string])[]
  readonly problems: readonly { readonly field: string; readonly message: string }[]
}

type Fields = Readonly<Record<string, unknown>>

/** Replaces the short forms of a file with the full form. The file has already been checked against its schema. */
export function expand(file: Fields): Expanded {
  const origins: [string, string][] = []
  const problems: { field: string; message: string }[] = []
  const tools: Tools = {
    came: (field, inFile) => void origins.push([field, inFile]),
    refuse: (field, message) => void problems.push({ field, message: `${field} ${message}` }),
  }
  const { steps, tags, concurrency, ...rest } = expandSchedule(file, tools)
  const job = {
    ...expandWork(rest, '', tools),
    ...(tags === undefined ? {} : { tags: tagsOf(tags) }),
    ...(concurrency === undefined ? {} : { concurrency: gateOf(concurrency) }),
    ...(steps === undefined ? {} : { steps: expandSteps(steps as Fields | Fields[], tools) }),
  }
  const definition = job as unknown as JobDefinition
  return { definition, problems, origins: origins.toSorted(([a], [b]) => b.length - a.length) }
}

interface Tools {
  came(field: string, inFile: string): void
  refuse(field: string, message: string): void
}

function tagsOf(tags: unknown): unknown {
  return Array.isArray(tags) ? Object.fromEntries(tags.map((tag: string) => [tag, 'true'])) : tags
}

function gateOf(concurrency: unknown): unknown {
  return typeof concurrency === 'number' ? { limit: concurrency } : concurrency
}

function expandSteps(steps: Fields | readonly Fields[], tools: Tools) {
  if (Array.isArray(steps)) {
    return steps.map((step: Fields, nth) => expandWork(step, `steps.${nth}.`, tools))
  }
  return Object.fromEntries(
    Object.entries(steps as Readonly<Record<string, Fields>>).map(([name, step]) => [
      name,
      expandWork(step, `steps.${name}.`, tools),
    ]),
  )
}

const RULES = ['cron', 'every', 'at'] as const

function expandSchedule(file: Fields, tools: Tools): Fields {
  const { timezone, zone, schedule, ...others } = file
  const rest = Object.fromEntries(
    Object.entries(others).filter(([name]) => !RULES.some((rule) => rule === name)),
  )
  const short = RULES.filter((name) => file[name] !== undefined)
  const zoneField = timezone === undefined ? 'zone' : 'timezone'
  const common = timezone ?? zone
  const [rule] = short
  if (rule === undefined && schedule === undefined) {
    if (common !== undefined) tools.refuse(zoneField, 'belongs to a schedule, and there is none')
    return rest
  }
  if (rule === undefined) {
    const one = (entry: Fields, place: string) => expandZone(entry, place, common, tools)
    if (!Array.isArray(schedule)) return { ...rest, schedule: one(schedule as Fields, 'schedule.') }
    const all = schedule.map((entry: Fields, nth) => one(entry, `schedule.${nth}.`))
    return { ...rest, schedule: all }
  }
  if (schedule !== undefined)
    tools.refuse(rule, 'cannot be used with schedule: make it one of its rules')
  const [, second] = short
  if (second !== undefined) tools.refuse(second, `cannot be used with ${rule}: choose one`)
  tools.came('schedule', rule)
  tools.came(`schedule.${rule}`, rule)
  tools.came('schedule.zone', zoneField)
  const stated = { [rule]: file[rule], ...(common === undefined ? {} : { zone: common }) }
  return { ...rest, schedule: stated }
}

function expandZone(entry: Fields, place: string, common: unknown, tools: Tools): Fields {
  const { timezone, zone, ...rest } = entry
  if (timezone !== undefined && zone !== undefined) {
    tools.refuse(`${place}timezone`, 'cannot be used with zone: they mean the same')
  }
  if (timezone !== undefined) tools.came(`${place}zone`, `${place}timezone`)
  const stated = timezone ?? zone ?? common
  return { ...rest, ...(stated === undefined ? {} : { zone: stated }) }
}

function expandWork(step: Fields, at: string, tools: Tools): Fields {
  const { retry, http, image, ...rest } = step
  return {
    ...(image === undefined ? rest : expandImage(image, rest, at, tools)),
    ...(retry === undefined ? {} : { retry: typeof retry === 'number' ? { max: retry } : retry }),
    ...(http === undefined ? {} : { http: expandRequest(http as Fields, at, tools) }),
  }
}

/** `image` with `run` is a container that runs the text in its shell; with `argv`, one that runs the program. */
function expandImage(image: unknown, step: Fields, at: string, tools: Tools): Fields {
  const { run, argv, shell = DEFAULT_SHELL, container, ...rest } = step
  if (container !== undefined) {
    tools.refuse(`${at}image`, 'cannot be used with container: set container.image instead')
  }
  tools.came(`${at}container`, `${at}image`)
  tools.came(`${at}container.image`, `${at}image`)
  if (run !== undefined) {
    tools.came(`${at}container.command`, `${at}run`)
    const words = { entrypoint: [shell, '-c'], command: [run] }
    return { ...rest, container: { image, ...words } }
  }
  if (!Array.isArray(argv)) return { ...rest, container: { image } }
  tools.came(`${at}container.entrypoint`, `${at}argv`)
  tools.came(`${at}container.command`, `${at}argv`)
  const [program, ...words] = argv as string[]
  const command = words.length === 0 ? {} : { command: words }
  return { ...rest, container: { image, entrypoint: [program], ...command } }
}

const VERBS = METHODS.map((method) => method.toLowerCase())

function expandRequest(http: Fields, at: string, tools: Tools): Fields {
  const place = `${at}http.`
  const stated = Object.entries(http).filter(([name]) => !VERBS.includes(name))
  const [verb, second] = VERBS.filter((name) => http[name] !== undefined)
  const rest = Object.fromEntries(stated)
  if (verb === undefined) {
    if (http['url'] === undefined) tools.refuse(`${at}http`, 'has no URL: write get or post')
    return rest
  }
  if (second !== undefined) tools.refuse(place + second, `cannot be used with ${verb}: choose one`)
  for (const name of ['url', 'method']) {
    if (http[name] !== undefined) tools.refuse(place + name, `is already set by ${verb}`)
  }
  tools.came(`${place}url`, place + verb)
  tools.came(`${place}method`, place + verb)
  return { ...rest, url: http[verb], method: verb.toUpperCase() }
}
