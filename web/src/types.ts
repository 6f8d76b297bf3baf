/** The documents that pages show, as the Python side writes them. */
import type { AuditDocument } from "./audit";
import type { Num } from "./numbers";

export interface Method {
  name: string;
  title: string;
  question: string;
  formula: string;
  low: Num;
  high: Num;
  sign: string;
  paper: string;
  needs: string[];
  limits: string;
  family: string;
  unbiased_when: string;
}

export interface TopList {
  metric: string;
  toward: string;
  identities: string[];
  n: number;
  rows: Record<string, any>[];
}

export interface ReportPage {
  kind: "report";
  source: string;
  audit: AuditDocument;
  /** What groups and tasks are called, by their labels; and groups where their attribute is named already. */
  names?: Record<string, string>;
  group_names?: Record<string, Record<string, string>>;
  /** The headings of the rates of groups, and what they and their intervals are. */
  rate_titles?: Record<string, string>;
  rate_notes?: string[];
  methods: Method[];
  association: TopList[] | null;
}
