export { readRule } from './read-rule.ts'
export type { Problem } from './refusal.ts'
export type { Rule, RuleReading, RuleSource } from './rule.ts'
export { zoneNames } from './zones/zone-names.ts'
