"""Display objects, as scikit-learn has them."""

from supred.plotting.category_axes import CategoryAxesDisplay
from supred.plotting.latent_model import Regions, decision_regions
from supred.plotting.latent_space import LatentSpaceDisplay
from supred.plotting.map import MapDisplay
from supred.plotting.trade_off import TradeOffDisplay
from supred.plotting.training_trace import TrainingTraceDisplay

__all__ = [
    "CategoryAxesDisplay",
    "LatentSpaceDisplay",
    "MapDisplay",
    "Regions",
    "TradeOffDisplay",
    "TrainingTraceDisplay",
    "decision_regions",
]
