export function showExplorer(_page: any, _root: HTMLElement, _theme: HTMLElement): void {}
