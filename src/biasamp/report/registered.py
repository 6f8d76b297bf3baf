"""What results are shown by: the one place that puts ``report`` into the registry of renderers."""

from biasamp.results.renderers import register

from .ai_act import ai_act_section
from .audit_page import write_html
from .comparison_page import write_comparison
from .croissant import croissant
from .explorer_document import write_explorer
from .figures import (
    amplification_plot,
    association_plot,
    audit_figures,
    decomposition_figure,
    frontier_figure,
    sweep_figure,
    trajectory_figure,
)
from .impact_page import impact_table, write_impact
from .impact_view import impact_csv, impact_section
from .junit import junit_xml
from .markdown import audit_section, comparison_section, verdict_section
from .model_card import model_card
from .notebook import amplification_table, association_table, audit_table, decomposition_table
from .notebook_models import sweep_table, thresholds_table, trajectory_table
from .notebook_verdict import comparison_table, parity_table, plain_table, verdict_table
from .sarif import sarif_json
from .sweep_page import write_sweep
from .trajectory_page import write_trajectory
from .verdict_page import write_verdict

register(
    {
        "audit page": write_html,
        "audit Markdown": audit_section,
        "audit AI Act section": ai_act_section,
        "audit model card": model_card,
        "audit Croissant": croissant,
        "audit figures": audit_figures,
        "audit table": audit_table,
        "comparison Markdown": comparison_section,
        "verdict Markdown": verdict_section,
        "verdict page": write_verdict,
        "verdict table": verdict_table,
        "comparison page": write_comparison,
        "comparison table": comparison_table,
        "parity table": parity_table,
        "plain table": plain_table,
        "verdict JUnit": junit_xml,
        "verdict SARIF": sarif_json,
        "amplification figure": amplification_plot,
        "amplification table": amplification_table,
        "decomposition figure": decomposition_figure,
        "decomposition table": decomposition_table,
        "impact CSV": impact_csv,
        "impact Markdown": impact_section,
        "impact page": write_impact,
        "impact table": impact_table,
        "sweep figure": sweep_figure,
        "threshold frontier": frontier_figure,
        "sweep page": write_sweep,
        "sweep table": sweep_table,
        "threshold table": thresholds_table,
        "trajectory page": write_trajectory,
        "trajectory table": trajectory_table,
        "trajectory figure": trajectory_figure,
        "association explorer": write_explorer,
        "association figure": association_plot,
        "association table": association_table,
    }
)
