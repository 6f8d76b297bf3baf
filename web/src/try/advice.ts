/** What a message advises whoever has opened the page, as the Python package has it. */
import { FACTS } from "./facts";

export const ADVICE = FACTS.advice;
